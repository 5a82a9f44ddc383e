#!/usr/bin/env python3
"""Writes the made-up tables into a database with the schema of sc-crawler, and prints US dollars for one euro as the
Keeper counts: fill.py DATABASE SERVERS. Runs with the Python that has sparecores-crawler."""
import datetime
import os
import sys

from currency_converter import CurrencyConverter
from sc_crawler import tables
from sqlmodel import Session, SQLModel, create_engine, insert, text

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import keeper_data  # noqa: E402

MODELS = {"country": tables.Country, "compliance_framework": tables.ComplianceFramework, "vendor": tables.Vendor,
          "vendor_compliance_link": tables.VendorComplianceLink, "region": tables.Region, "zone": tables.Zone,
          "server": tables.Server, "server_price": tables.ServerPrice, "benchmark": tables.Benchmark,
          "benchmark_score": tables.BenchmarkScore}

# The Keeper shows one row of these tables as an example in its API description. It does not start without a row.
SHOWN = {
    tables.ServerDescription: {
        "vendor_id": "aws", "server_id": "aws-00000", "page": ["p"], "description": "d", "og_description": "o",
        "meta_description": "m", "tagline": "t", "bullet_points": ["b"], "categories": []},
    tables.Storage: {"vendor_id": "aws", "storage_id": "s", "name": "s", "description": None, "storage_type": "SSD",
                     "max_iops": None, "max_throughput": None, "min_size": 1, "max_size": 2},
}


def main():
    path, servers = sys.argv[1], int(sys.argv[2])
    engine = create_engine("sqlite:///" + path)
    SQLModel.metadata.create_all(engine)
    with Session(engine) as session:
        for name, rows in keeper_data.tables(servers).items():
            base = MODELS[name].__bases__[0]  # the table without its relations and its crawler
            session.execute(insert(MODELS[name].__table__), [base.model_validate(row).model_dump() for row in rows])
        for model, row in SHOWN.items():
            session.execute(insert(model.__table__), [{
                **model.__bases__[0].model_construct(**row).model_dump(), "status": "ACTIVE",
                "observed_at": datetime.datetime(2026, 8, 22)}])
        if "--with-version" in sys.argv:  # without it, /healthcheck answers 500
            session.exec(text("CREATE TABLE zzz_alembic_version (version_num)"))
            session.exec(text("INSERT INTO zzz_alembic_version VALUES ('x')"))
        session.commit()
    print(CurrencyConverter().convert(1, "EUR", "USD"))


main()
