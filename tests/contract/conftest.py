"""Runs only where the published program is: `make contract` installs it and says where."""

from contract.published import FOLDER

collect_ignore_glob = [] if FOLDER else ["test_*"]
