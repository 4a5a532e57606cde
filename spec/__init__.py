"""
The norm: values, machines, properties and claims of scalable topics.

Pure, and importable from anywhere.
"""
