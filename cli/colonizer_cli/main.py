"""The entry of the `colonizer` program."""

import sys


def main() -> None:
    """Runs the program and ends the process."""
    if sys.argv[1:] in (["--version"], ["version"]):
        # Scripts ask for this in loops: nothing but the version is loaded.
        from colonizer_config.version import __version__

        print(f"v{__version__}" if sys.argv[1] == "version" else f"colonizer {__version__}")
        return
    from colonizer_cli.root import root

    root()


if __name__ == "__main__":
    main()
