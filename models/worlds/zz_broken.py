"""Broken."""
from spec.machine import Machine

def half(:
