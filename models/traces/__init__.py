"""Traces as people and programs see them: kept under short ids, told, drawn, exported and pinned."""
