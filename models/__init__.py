"""How the norm is explored: laws over values now; the checker, its worlds and the pipeline later."""
