"""Every law of the specification's values, by area."""

from importlib import import_module

from models.laws.law import LAWS, Law

AREAS = (
    "names",
    "hashing",
    "layout",
    "records",
    "assignment",
    "sessions",
    "autoscale",
    "policy",
    "transactions",
    "migration",
    "authorization",
)
"""The modules of this folder that hold laws."""


def all_laws() -> tuple[Law, ...]:
    """All laws, area by area, in the order in which they are written."""
    for area in AREAS:
        import_module(f"models.laws.{area}")
    return tuple(sorted(LAWS.values(), key=lambda law: AREAS.index(law.area)))
