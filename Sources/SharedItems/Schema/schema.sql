-- Format 1 of shared collections: the tables. Their owner runs this; hosts read them and write through functions alone.
-- Each record ends with a checksum, which hosts make and check: of an item's rank and record, and of a record of the log.

create schema cubby;

create table cubby.format (
    version int not null
);
insert into cubby.format values (1);

-- One row orders all commits of a collection: a commit's revision is the new `head`, taken under this row's lock.
-- A sequence would not do: its numbers become visible out of order.
create table cubby.collection (
    id int generated always as identity primary key,
    name text not null unique,
    head bigint not null default 0,
    -- The log has every revision after this one.
    floor bigint not null default 0,
    -- Another epoch is another history: a restored backup gets one.
    epoch uuid not null default gen_random_uuid(),
    -- Identifies the commits up to `head`: a hash of the lineage before and the last commit's token. Of two servers that went
    -- on separately after a failover, each has another one.
    lineage bytea not null default ''
) with (fillfactor = 50);

-- The items as of `head`. A record is a journal's record of one insertion: text and jsonb refuse U+0000, which items may hold.
-- Neither this table nor the log refers to the collection's row: each row's check would take as long as its insertion, and
-- the function that writes them has found the row.
create table cubby.item (
    collection int not null,
    key bytea not null,
    -- The order of the items, bytewise; ties are ordered by key.
    rank bytea not null,
    version bigint not null,
    record bytea not null,
    primary key (collection, key)
-- Room in each page for the new version of a row beside the old one: the index is not touched then.
) with (fillfactor = 80);

create table cubby.log (
    collection int not null,
    revision bigint not null,
    -- The revision that the commit's host had seen.
    seen bigint not null,
    host uuid not null,
    -- One for each logical commit, however often it is sent.
    token uuid not null unique,
    -- The collection's as of this revision.
    lineage bytea not null,
    -- The keys of the items that changed.
    keys bytea[] not null,
    record bytea not null,
    at timestamptz not null default clock_timestamp(),
    primary key (collection, revision)
);

-- Keys do not compress, and trying takes as long as writing the row.
alter table cubby.log alter keys set storage external, alter record set storage external;

-- The pictures of items, by the item's key and the digest of the bytes, which the item's record has as well.
create table cubby.picture (
    collection int not null,
    key bytea not null,
    position int not null,
    sha256 bytea not null,
    bytes bytea not null,
    -- When the item ceased to have it; null while it has.
    gone timestamptz,
    primary key (collection, key, position, sha256)
);
create index picture_gone on cubby.picture (gone) where gone is not null;

-- Pictures are compressed already.
alter table cubby.picture alter bytes set storage external;

create table cubby.host (
    collection int not null references cubby.collection,
    id uuid not null,
    name text not null,
    connected_at timestamptz not null default clock_timestamp(),
    primary key (collection, id)
);
