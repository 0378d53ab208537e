"""What the records of the settings, the client layer and the faces have in common."""

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """A record that never changes; `msgspec.structs.replace` gives it with other fields.

    A frozen dataclass writes, compiles and runs source for each class: over a hundred of them made up a third of the
    time until the first picture.
    """
