-- What `cubby shared publish` needs beside the tables of collections. It is made before the first publication; run again it
-- changes nothing.
--
-- The server cannot read records: hosts send an item's row with the commit that changes the item, and call the function of the
-- collection's publication, cubby.rows_N, in the same statement. It alone writes the rows, as their owner.

create table if not exists cubby.publication (
    collection int primary key,
    schema name not null,
    -- Another one with each change of the columns: a host that knows an earlier one asks again.
    version int not null,
    -- The fields that have columns of their own, the columns, and their types.
    fields text[] not null,
    columns text[] not null,
    types text[] not null,
    -- Whether the table has all items, and not only those that changed since it was made.
    filled boolean not null default false
);

-- Refuses a commit without the rows of its items, when its transaction ends.
create or replace function cubby.check_published() returns trigger
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    written text[] := string_to_array(current_setting('cubby.rows', true), ':');
begin
    if written[1] = new.collection::text and written[2]::bigint >= new.revision then
        return null;
    end if;
    if exists (select from cubby.publication p where p.collection = new.collection) then
        raise exception 'the items of the collection are published as rows, and this host''s program does not write them: '
            'install a newer cubby' using errcode = 'CB005';
    end if;
    return null;
end $$;

-- Lets a role that reads a collection read its rows.
create or replace function cubby.open_rows(in_collection int, in_role name) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    known name;
begin
    select p.schema into known from cubby.publication p where p.collection = in_collection and p.filled;
    if found and to_regrole(quote_ident(in_role)) is not null then
        execute format('grant usage on schema %I to %I', known, in_role);
        execute format('grant select on %I.items to %I', known, in_role);
    end if;
end $$;

-- Follows what `grant` and `revoke` say.
create or replace function cubby.member_changed() returns trigger
    language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    known name;
begin
    if tg_op = 'INSERT' then
        perform cubby.open_rows(new.collection, new.role);
        return null;
    end if;
    select p.schema into known from cubby.publication p where p.collection = old.collection;
    if found and to_regrole(quote_ident(old.role)) is not null then
        execute format('revoke all on %I.items from %I', known, old.role);
        execute format('revoke all on schema %I from %I', known, old.role);
    end if;
    return null;
end $$;

-- Ends a publication, and removes its table; the schema, too, if nothing else is in it. Returns the schema's name.
create or replace function cubby.unpublish(in_collection int) returns name
    language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    known name;
begin
    perform 1 from cubby.collection c where c.id = in_collection for update;
    delete from cubby.publication p where p.collection = in_collection returning p.schema into known;
    if known is null then
        return null;
    end if;
    execute format('drop function if exists cubby.rows_%s', in_collection);
    execute format('drop table if exists %I.items', known);
    if not exists (select from pg_class c where c.relnamespace = to_regnamespace(quote_ident(known)))
            and not exists (select from pg_proc p where p.pronamespace = to_regnamespace(quote_ident(known))) then
        execute format('drop schema if exists %I', known);
    end if;
    return known;
end $$;

revoke all on function cubby.check_published, cubby.open_rows, cubby.member_changed, cubby.unpublish from public;

do $$
declare
    owner text;
    part text;
begin
    select c.relowner::regrole::text into owner from pg_catalog.pg_class c where c.oid = 'cubby.collection'::regclass;
    if not exists (select from pg_catalog.pg_policy p where p.polrelid = 'cubby.publication'::regclass) then
        execute format('alter table cubby.publication owner to %s', owner);
        create policy readable on cubby.publication for select using (collection = any ((select cubby.readable())::int[]));
        alter table cubby.publication enable row level security;
    end if;
    for part in
        select p.oid::regprocedure::text from pg_catalog.pg_proc p
            where p.pronamespace = 'cubby'::regnamespace and p.proowner::regrole::text <> owner
    loop
        execute format('alter function %s owner to %s', part, owner);
    end loop;
    if not exists (select from pg_catalog.pg_trigger t where t.tgrelid = 'cubby.log'::regclass and t.tgname = 'published') then
        -- When the transaction ends: until then the host may send the rows.
        create constraint trigger published after insert or update on cubby.log deferrable initially deferred
            for each row execute function cubby.check_published();
        create trigger member_changed after insert or delete on cubby.member
            for each row execute function cubby.member_changed();
        for part in
            select distinct m.role from cubby.member m where to_regrole(quote_ident(m.role)) is not null
        loop
            perform cubby.admit(part::name);
        end loop;
    end if;
end $$;
