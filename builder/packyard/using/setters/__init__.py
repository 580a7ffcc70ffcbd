"""Setters: named values that a user may set, and the fields that are bound to them.

A *definition* (in a Krmfile) says what a setter's value is and may be; a *comment* behind a field binds it to a setter
or to a *substitution*, a pattern of setters. A *plan* is every edit that setting some values asks for, checked as a
whole before anything is written.
"""
