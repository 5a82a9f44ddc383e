"""Watches the steps of a flow and sizes them: the decorator @rightsize, its card, artifact and command."""
