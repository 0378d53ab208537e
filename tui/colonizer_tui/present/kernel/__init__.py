"""Turns what is known of a colony kernel into lines."""
