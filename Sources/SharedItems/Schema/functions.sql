-- What hosts may do. Each function runs as the tables' owner, with a search path that nobody else can put names into.

-- What an older program's tables lack: `init` and `migrate` add it.
--
-- The revision of the last declaration of fields. A host that has not seen it checked its commit against another one.
alter table cubby.collection add column if not exists declared bigint not null default 0;

-- The fields that every item of the collection has, if they are not a household's: a value in the encoding of the records, with a
-- checksum. Records have the values by the fields' places: they are determined when the collection is made, and stay.
alter table cubby.collection add column if not exists fields bytea;

-- What is declared of a collection's fields: a value in the encoding of the records, with a checksum; empty for nothing. It is
-- apart from the collection's row, which each commit writes anew.
create table if not exists cubby.declaration (
    collection int primary key,
    revision bigint not null,
    record bytea not null
);

-- Which commits the log keeps: those of so many days, or the last so many; all of them if neither is said.
alter table cubby.collection add column if not exists keep_days int;
alter table cubby.collection add column if not exists keep_commits bigint;

-- The lineage before the latest commit, which a commit that is refused after all puts back.
alter table cubby.collection add column if not exists former bytea not null default '';

-- Removes commits from the log that need not be kept, the oldest first, at most in_most of them, and returns how many it
-- removed. Those of the last day stay in any case: a host that lost the answer to a commit looks for it there.
create or replace function cubby.shorten_log(in_collection int, in_most int) returns int
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    known record;
    last bigint;
    young bigint;
begin
    select c.head, c.floor, c.keep_days, c.keep_commits into known
        from cubby.collection c where c.id = in_collection for update;
    if known.keep_days is null and known.keep_commits is null then
        return 0;
    end if;
    last := least(known.floor + in_most, known.head - greatest(known.keep_commits, 1));
    select min(l.revision) into young from cubby.log l
        where l.collection = in_collection and l.revision > known.floor and l.revision <= last
            and l.at > clock_timestamp() - make_interval(days => greatest(known.keep_days, 1));
    last := least(last, young - 1);
    if last <= known.floor then
        return 0;
    end if;
    -- The last one's row stays until the next time: by its lineage a host at this revision finds that the history is its own.
    delete from cubby.log l where l.collection = in_collection and l.revision < last;
    update cubby.collection c set floor = last where c.id = in_collection;
    return last - known.floor;
end $$;

-- Refuses a host whose program does not know of declarations: it would commit what does not fit.
create or replace function cubby.check_declared(in_collection int) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    if exists (select from cubby.declaration d where d.collection = in_collection and d.record <> '') then
        raise exception 'the fields of the collection are declared, and this host''s program does not know of that: '
            'install a newer cubby' using errcode = 'CB003';
    end if;
end $$;

-- A host introduces itself.
--
-- in_revision        the latest revision that it knows
-- lineage            of that revision; null when the log has none
-- in_level            what the host knows of: 1 declarations of fields, 2 items with other fields than a household's
-- system, timeline   the server's identity, which its standbys share, and how often one of them was promoted; 0 where the
--                    server does not say it
create or replace function cubby.hello(
    in_name text, in_host uuid, in_host_name text, in_revision bigint, in_level int,
    out id int, out head bigint, out floor bigint, out epoch uuid, out lineage bytea,
    out system bigint, out timeline bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    select c.id, c.head, c.floor, c.epoch into id, head, floor, epoch
        from cubby.collection c where c.name = in_name and c.id = any (cubby.readable());
    if not found then
        raise exception 'there is no collection "%"', in_name using errcode = 'CB001';
    end if;
    if in_level < 2 and exists (
            select from cubby.collection c where c.id = hello.id and c.fields is not null) then
        raise exception 'the items of the collection have fields of their own, and this host''s program does not know of that: '
            'install a newer cubby' using errcode = 'CB003';
    end if;
    select l.lineage into lineage from cubby.log l where l.collection = id and l.revision = in_revision;
    begin
        select s.system_identifier into system from pg_control_system() s;
        timeline := ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
    exception when insufficient_privilege or feature_not_supported then
        system := 0;
        timeline := 0;
    end;
    -- One that only reads leaves nothing.
    if cubby.may_write(id) then
        insert into cubby.host (collection, id, name) values (hello.id, in_host, in_host_name)
            on conflict on constraint host_pkey
            do update set name = excluded.name, connected_at = excluded.connected_at;
    end if;
end $$;

-- The same for an older program.
create or replace function cubby.hello(
    in_name text, in_host uuid, in_host_name text, in_revision bigint,
    out id int, out head bigint, out floor bigint, out epoch uuid, out lineage bytea,
    out system bigint, out timeline bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    select h.id, h.head, h.floor, h.epoch, h.lineage, h.system, h.timeline
        into id, head, floor, epoch, lineage, system, timeline
        from cubby.hello(in_name, in_host, in_host_name, in_revision, 0) as h;
    perform cubby.check_declared(id);
end $$;

-- Whether bytes are an item's key in the encoding of the records: a UUID, or a text with its length.
create or replace function cubby.is_key(in_key bytea) returns boolean
    language sql immutable parallel safe as $$
    select case substr(in_key, 1, 1)
        when '\x00' then octet_length(in_key) = 17
        when '\x01' then case when octet_length(in_key) < 3 then false
            when get_byte(in_key, 1) < 128 then octet_length(in_key) = get_byte(in_key, 1) + 2
            else octet_length(in_key) > 130 end
        else false end
$$;

-- Whether bytes are a record of the log: nothing but a checksum, or one behind changes. The first one begins with its kind.
create or replace function cubby.is_change(in_record bytea) returns boolean
    language sql immutable parallel safe as $$
    select octet_length(in_record) = 4 or octet_length(in_record) > 5
        and get_byte(in_record, 0) in (1, 3, 4, 6, 8, 9, 11)
$$;

-- Whether bytes are declarations of fields; none for a commit that declares nothing.
create or replace function cubby.is_declaration(in_declarations bytea) returns boolean
    language sql immutable parallel safe as $$
    select in_declarations is null or in_declarations = ''
        or octet_length(in_declarations) > 5 and substr(in_declarations, 1, 1) = '\x09'
$$;

-- Whether bytes are an item of a commit. An insertion has its kind, its key and its fields' number, a rank of its own and a
-- checksum. The names of fields may stand before it.
create or replace function cubby.is_item(in_key bytea, in_rank bytea, in_record bytea) returns boolean
    language sql immutable parallel safe as $$
    select cubby.is_key(in_key) and octet_length(in_rank) between 1 and 4096
        and octet_length(in_record) > octet_length(in_key) + 5
        and case when substr(in_record, 1, 1) in ('\x01', '\x09')
            then substr(in_record, 2, octet_length(in_key)) = in_key
            else substr(in_record, 1, 1) = '\x06' and position(in_key in in_record) > 0 end
$$;

-- Refuses a commit with bytes that cannot be records, and says which: it would go to all hosts. What is between a record's
-- beginning and its checksum hosts alone can read. They leave out what they cannot. It runs with the search path of `commit`.
create or replace function cubby.check_records(
    in_removed bytea[], in_keys bytea[], in_ranks bytea[], in_records bytea[], in_record bytea, in_declarations bytea
) returns void language plpgsql stable as $$
declare
    bad record;
begin
    if cubby.is_change(in_record) is not true then
        raise exception 'what the commit has for the log is not a record: % bytes that begin with "%"',
            coalesce(octet_length(in_record), 0), coalesce(encode(substr(in_record, 1, 4), 'hex'), '') using errcode = 'CB004';
    end if;
    if cubby.is_declaration(in_declarations) is not true then
        raise exception 'what the commit declares is not a record: % bytes that begin with "%"',
            octet_length(in_declarations), encode(substr(in_declarations, 1, 4), 'hex') using errcode = 'CB004';
    end if;
    if cardinality(in_removed) > 0 then
        select n.key into bad from unnest(in_removed) as n (key) where cubby.is_key(n.key) is not true limit 1;
    end if;
    if found then
        raise exception 'the commit removes an item whose key is none: "%"',
            coalesce(encode(substr(bad.key, 1, 20), 'hex'), '') using errcode = 'CB004';
    end if;
    select n.key, n.record into bad from unnest(in_keys, in_ranks, in_records) as n (key, rank, record)
        where cubby.is_item(n.key, n.rank, n.record) is not true limit 1;
    if found then
        raise exception 'what the commit has for the item with the key "%" is not its record and its rank: % bytes that begin with "%"',
            coalesce(encode(substr(bad.key, 1, 20), 'hex'), ''), coalesce(octet_length(bad.record), 0),
            coalesce(encode(substr(bad.record, 1, 4), 'hex'), '') using errcode = 'CB004';
    end if;
end $$;

-- Makes one commit, or says why not.
--
-- in_seen     the revision that the host has applied
-- in_reads    the keys of the items that a transaction read; null when it read the collection as a whole
-- in_keys, in_ranks, in_records   the items that came or changed, as they are now
-- in_record   the changes, for the log
-- in_claims   the values of unique fields that the items got: of two commits that did not know of each other, the later one
--             conflicts if they share one
-- in_declarations   all declarations of fields, if the commit declares some; its host reads the collection as a whole
-- in_digest   the SHA-256 of what the commit writes, as its host made it; null from an older program
-- in_most     the most commits that `others` may have
-- status      0 committed · 1 already committed with this token · 2 others changed what was read or written since
--             3 another epoch · 4 the log no longer has what came after `seen`
-- others      the commits after `seen` and before this one, if there are no more than `most`, so that the host need not read
--             the log: of each its host, its lineage and its record, one behind the other; null for a long one
create or replace function cubby.commit(
    in_collection int, in_epoch uuid, in_seen bigint, in_token uuid, in_host uuid, in_reads bytea[],
    in_removed bytea[], in_keys bytea[], in_ranks bytea[], in_records bytea[], in_record bytea,
    in_claims bytea[], in_declarations bytea, in_digest bytea, in_most int,
    out status int, out revision bigint, out lineage bytea, out others bytea[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    now_floor bigint;
    now_declared bigint;
    made bigint;
    touched bytea[];
    is_overtaken boolean;
    written bigint;
begin
    -- As may_write asks, whose call takes longer than all of this. What is decided without a query is asked alone.
    if not pg_has_role(session_user, current_user, 'member') then
        if not exists (
                select from cubby.member m where m.collection = in_collection and m.writes
                    and pg_has_role(session_user, to_regrole(quote_ident(m.role)), 'member')) then
            perform cubby.check_writer(in_collection);
        end if;
    end if;
    -- Before the lock: other hosts need not wait for it. Arrays as they are sent have the lengths of their parts.
    if in_digest is not null and in_digest is distinct from sha256(array_send(in_removed) || array_send(in_keys)
            || array_send(in_ranks) || array_send(in_records) || array_send(in_claims) || array_send(array[in_record])
            || coalesce('\x01' || in_declarations, '')) then
        raise exception 'the commit came with other bytes than its host sent' using errcode = 'CB004';
    end if;
    -- The items are checked while they are written: a query of their own would take as long as that.
    if cardinality(in_removed) > 0 or (cubby.is_change(in_record) and cubby.is_declaration(in_declarations)) is not true then
        perform cubby.check_records(in_removed, in_keys, in_ranks, in_records, in_record, in_declarations);
    end if;
    -- Within a transaction of the caller's the row stays locked: that has the deadline of `hold`.
    if current_setting('idle_in_transaction_session_timeout') = '0' then
        perform set_config('idle_in_transaction_session_timeout', '5s', true);
    end if;
    -- The row stays locked until the end: the commits of a collection come one after the other.
    update cubby.collection c
        set head = c.head + 1, former = c.lineage, lineage = sha256(c.lineage || uuid_send(in_token))
        where c.id = in_collection and c.epoch = in_epoch
        returning c.head, c.floor, c.lineage, c.declared into revision, now_floor, lineage, now_declared;
    if not found then
        status := 3;
        return;
    end if;
    status := 0;
    -- When nothing came in between, there is no commit with this token, either.
    if revision <> in_seen + 1 then
        touched := in_reads || in_removed || in_keys || in_claims;
        if revision - in_seen between 2 and in_most + 1 and cardinality(touched) <= 16 then
            -- A few keys are looked for in each of a few commits. This reads the log as the host would.
            select max(l.revision) filter (where l.token = in_token), bool_or(l.keys && touched),
                    array_agg(case when octet_length(l.record) <= 2000 and octet_length(l.lineage) = 32
                        then uuid_send(l.host) || l.lineage || l.record end)
                into made, is_overtaken, others
                from (
                    select l.* from cubby.log l
                        where l.collection = in_collection and l.revision > in_seen and l.revision < commit.revision
                        order by l.revision
                ) as l;
        else
            -- With one bound alone the plan may look at the whole log. Hashed, many keys on both sides take no longer than
            -- reading them, while the other hosts wait.
            select l.revision into made from cubby.log l where l.token = in_token;
            is_overtaken := exists (
                select from cubby.log l, unnest(l.keys) as k (key) where l.collection = in_collection
                    and l.revision > in_seen and l.revision < commit.revision and k.key in (select unnest(touched)));
        end if;
        status := case
            when revision <= in_seen then 3
            when made is not null then 1
            when in_seen < now_floor then 4
            when in_seen < now_declared then 2
            when in_reads is null or is_overtaken then 2
            else 0 end;
        if status <> 0 then
            update cubby.collection c set head = commit.revision - 1, lineage = c.former where c.id = in_collection;
            revision := coalesce(made, revision - 1);
            lineage := (select l.lineage from cubby.log l where l.token = in_token);
            return;
        end if;
    end if;
    if cardinality(in_removed) > 0 then
        delete from cubby.item i where i.collection = in_collection and i.key = any (in_removed);
    end if;
    if greatest(cardinality(in_keys), cardinality(in_ranks), cardinality(in_records)) > 0 then
        insert into cubby.item as i (collection, key, rank, version, record)
            select in_collection, n.key, n.rank, commit.revision, n.record
                from unnest(in_keys, in_ranks, in_records) as n (key, rank, record)
                where cubby.is_item(n.key, n.rank, n.record)
            on conflict on constraint item_pkey
            do update set rank = excluded.rank, version = excluded.version, record = excluded.record;
        get diagnostics written = row_count;
        if written <> greatest(cardinality(in_keys), cardinality(in_ranks), cardinality(in_records)) then
            perform cubby.check_records(in_removed, in_keys, in_ranks, in_records, in_record, in_declarations);
            raise exception 'an item of the commit was not written' using errcode = 'CB004';
        end if;
    end if;
    insert into cubby.log (collection, revision, seen, host, token, lineage, keys, record)
        values (in_collection, commit.revision, in_seen, in_host, in_token, commit.lineage,
            in_keys || in_removed || in_claims, in_record)
        -- A row beyond the head is nobody's commit.
        on conflict on constraint log_pkey
        do update set seen = excluded.seen, host = excluded.host, token = excluded.token, lineage = excluded.lineage,
            keys = excluded.keys, record = excluded.record, at = excluded.at;
    if in_declarations is not null then
        insert into cubby.declaration as d (collection, revision, record)
            values (in_collection, commit.revision, in_declarations)
            on conflict on constraint declaration_pkey
            do update set revision = excluded.revision, record = excluded.record;
        update cubby.collection c set declared = commit.revision where c.id = in_collection;
    end if;
    -- Now and then the oldest commits leave that need not be kept, more of them than come.
    if commit.revision % 64 = 0 then
        perform cubby.shorten_log(in_collection, 256);
    end if;
    -- A number, and no contents: anybody may listen and notify on any channel. It has listeners ask for the log.
    perform pg_notify('cubby_' || encode(uuid_send(in_epoch), 'hex'), commit.revision::text);
end $$;

-- The same for a program that reads the log for what others committed.
create or replace function cubby.commit(
    in_collection int, in_epoch uuid, in_seen bigint, in_token uuid, in_host uuid, in_reads bytea[],
    in_removed bytea[], in_keys bytea[], in_ranks bytea[], in_records bytea[], in_record bytea,
    in_claims bytea[], in_declarations bytea, in_digest bytea,
    out status int, out revision bigint, out lineage bytea
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    select c.status, c.revision, c.lineage into status, revision, lineage from cubby.commit(
        in_collection, in_epoch, in_seen, in_token, in_host, in_reads, in_removed, in_keys, in_ranks, in_records, in_record,
        in_claims, in_declarations, in_digest, 0) as c;
end $$;

-- The same for an older program, which says no digest.
create or replace function cubby.commit(
    in_collection int, in_epoch uuid, in_seen bigint, in_token uuid, in_host uuid, in_reads bytea[],
    in_removed bytea[], in_keys bytea[], in_ranks bytea[], in_records bytea[], in_record bytea,
    in_claims bytea[], in_declarations bytea,
    out status int, out revision bigint, out lineage bytea
) language sql security definer set search_path = pg_catalog, pg_temp as $$
    select c.status, c.revision, c.lineage from cubby.commit(
        in_collection, in_epoch, in_seen, in_token, in_host, in_reads, in_removed, in_keys, in_ranks, in_records, in_record,
        in_claims, in_declarations, null) as c
$$;

-- The same for an older program, which neither declares fields nor claims values. One that has not seen a declaration yet is
-- told of it as of any commit.
create or replace function cubby.commit(
    in_collection int, in_epoch uuid, in_seen bigint, in_token uuid, in_host uuid, in_reads bytea[],
    in_removed bytea[], in_keys bytea[], in_ranks bytea[], in_records bytea[], in_record bytea,
    out status int, out revision bigint, out lineage bytea
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    select c.status, c.revision, c.lineage into status, revision, lineage from cubby.commit(
        in_collection, in_epoch, in_seen, in_token, in_host, in_reads, in_removed, in_keys, in_ranks, in_records, in_record,
        '{}', null, null) as c;
    -- After the commit, which holds the collection: what is found here is final, and an error undoes the commit.
    if status = 0 then perform cubby.check_declared(in_collection); end if;
end $$;

-- Takes a picture for a commit that follows in the same transaction. Until then no item has it.
create or replace function cubby.put_picture(
    in_collection int, in_key bytea, in_position int, in_sha256 bytea, in_bytes bytea
) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform cubby.check_writer(in_collection);
    if sha256(in_bytes) is distinct from in_sha256 then
        raise exception 'a picture came with other bytes than its host sent' using errcode = 'CB004';
    end if;
    insert into cubby.picture (collection, key, position, sha256, bytes, gone)
        values (in_collection, in_key, in_position, in_sha256, in_bytes, clock_timestamp())
        on conflict on constraint picture_pkey do update set bytes = excluded.bytes;
end $$;

-- Says which pictures the items of a commit have now, in its transaction; an empty digest is none. What an item no longer
-- has stays for a day: a host that takes its step back need not have the bytes.
create or replace function cubby.set_pictures(
    in_collection int, in_keys bytea[], in_positions int[], in_digests bytea[]
) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    kept bigint;
begin
    perform cubby.check_writer(in_collection);
    update cubby.picture p set gone = clock_timestamp()
        where p.collection = in_collection and p.key = any (in_keys) and p.gone is null;
    update cubby.picture p set gone = null
        from unnest(in_keys, in_positions, in_digests) as n (key, position, sha256)
        where p.collection = in_collection and p.key = n.key and p.position = n.position and p.sha256 = n.sha256;
    get diagnostics kept = row_count;
    if kept <> (select count(*) from unnest(in_digests) as n (sha256) where n.sha256 <> '') then
        raise exception 'a picture of the commit did not come' using errcode = 'CB002';
    end if;
    delete from cubby.picture p
        where p.collection = in_collection and p.gone < clock_timestamp() - interval '1 day';
end $$;

-- The revision that a commit with this token became; null when there is none.
create or replace function cubby.outcome(in_token uuid) returns bigint
    language sql stable security definer set search_path = pg_catalog, pg_temp
    as $$ select l.revision from cubby.log l where l.token = in_token and l.collection = any (cubby.readable()) $$;

-- Holds the collection against all other commits until the end of the caller's transaction. The server ends it, and the
-- caller's connection, when the caller has sent nothing for five seconds, whatever its own settings are; PostgreSQL 17 and later
-- also after a minute, however much it sends.
create or replace function cubby.hold(in_collection int) returns bigint
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_head bigint;
begin
    perform cubby.check_writer(in_collection);
    perform set_config('idle_in_transaction_session_timeout', '5s', true);
    if current_setting('transaction_timeout', true) is not null then
        perform set_config('transaction_timeout', '1min', true);
    end if;
    select c.head into found_head from cubby.collection c where c.id = in_collection for update;
    return found_head;
end $$;

revoke all on all functions in schema cubby from public;
revoke all on all tables in schema cubby from public;
revoke all on schema cubby from public;

-- Everything is the tables' owner's, whoever ran this. Of each table with rows of collections a role reads those that are open
-- to it: the owner, and so the functions, are not asked. Roles that were let in before get what has come since.
do $$
declare
    owner text;
    part record;
begin
    select c.relowner::regrole::text into owner from pg_catalog.pg_class c where c.oid = 'cubby.collection'::regclass;
    for part in
        select c.oid::regclass as name from pg_catalog.pg_class c
            where c.relnamespace = 'cubby'::regnamespace and c.relkind = 'r' and c.relowner::regrole::text <> owner
    loop
        execute format('alter table %s owner to %s', part.name, owner);
    end loop;
    for part in
        select p.oid::regprocedure as name from pg_catalog.pg_proc p
            where p.pronamespace = 'cubby'::regnamespace and p.proowner::regrole::text <> owner
    loop
        execute format('alter function %s owner to %s', part.name, owner);
    end loop;
    for part in
        select c.oid::regclass as name, a.attname as number from pg_catalog.pg_class c, pg_catalog.pg_attribute a
            where c.relnamespace = 'cubby'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
                and a.attrelid = c.oid and not a.attisdropped
                and a.attname = case c.relname when 'collection' then 'id' else 'collection' end
    loop
        execute format('create policy readable on %s for select using (%I = any ((select cubby.readable())::int[]))',
            part.name, part.number);
        execute format('alter table %s enable row level security', part.name);
    end loop;
    for part in
        select distinct m.role from cubby.member m where to_regrole(quote_ident(m.role)) is not null
    loop
        perform cubby.admit(part.role);
    end loop;
end $$;
