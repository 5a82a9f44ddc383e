#!/usr/bin/python3
"""Reads a file with the strict OpenMetrics parser of prometheus_client. Exit code 77: it is not installed."""
import sys

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    families = list(text_string_to_metric_families(file.read()))
if len(families) < 2 or any(not family.samples for family in families):
    sys.exit(f"{sys.argv[1]}: a family without samples, or too few families")
