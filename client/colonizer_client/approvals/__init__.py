"""Calls of agents that wait for a person."""
