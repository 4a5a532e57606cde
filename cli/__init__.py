"""The front door: the command line. It only parses, calls and prints."""
