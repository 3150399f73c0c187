"""The work of a shared collection's commit by psycopg: a round for each line read, its seconds for an answer."""

import hashlib
import sys
import time

import psycopg

TABLES = """
set client_min_messages = warning;
drop table if exists peer_item, peer_log, peer_head;
create table peer_head (id int primary key, head bigint);
insert into peer_head values (1, 0);
create table peer_item (key bytea primary key, rank bytea, version bigint, record bytea);
insert into peer_item select decode(md5(i::text), 'hex'), decode(lpad(to_hex(i), 24, '0'), 'hex'), 0,
    decode(repeat('2a', 60), 'hex') from generate_series(0, 99999) i;
create table peer_log (revision bigint primary key, keys bytea[], record bytea);
"""

writer = psycopg.connect(sys.argv[1], autocommit=True)
writer.execute(TABLES)
reader = psycopg.connect(sys.argv[1], autocommit=True)
reader.execute("listen peer")


def commit(numbers, number):
    items = [(hashlib.md5(str(each).encode()).digest(), b"\x2a" * 52 + number.to_bytes(8, "big")) for each in numbers]
    with writer.transaction():
        (head,) = writer.execute("update peer_head set head = head + 1 where id = 1 returning head").fetchone()
        with writer.cursor() as cursor:
            cursor.executemany(
                "insert into peer_item as i (key, rank, version, record) values (%s, '', %s, %s) on conflict (key) "
                "do update set version = excluded.version, record = excluded.record",
                [(key, head, record) for key, record in items],
            )
        writer.execute(
            "insert into peer_log (revision, keys, record) values (%s, %s, %s)",
            (head, [key for key, _ in items], b"".join(record for _, record in items)),
        )
        writer.execute("select pg_notify('peer', %s)", (str(head),))
    return head


def observe(head):
    """Until the commit is there, as the log has it."""
    for notification in reader.notifies():
        if int(notification.payload) >= head:
            break
    reader.execute("select record from peer_log where revision = %s", (head,)).fetchone()


for line in sys.stdin:
    work, number = line.split()
    number = int(number)
    if work == "hasty":
        writer.execute("set synchronous_commit = off")
    start = time.perf_counter()
    if work == "many":
        commit(range(number % 100, 100_000, 100), number)
    else:
        head = commit([number * 7 % 100_000], number)
        if work == "hasty":
            observe(head)
    took = time.perf_counter() - start
    if work != "hasty":
        # What the other connection was told is not left to pile up.
        for _ in reader.notifies(timeout=0):
            pass
    print(took, flush=True)
