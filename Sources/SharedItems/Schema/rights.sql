-- Who may use which collection: `init`, `migrate`, `grant` and `revoke` add it to an older program's tables. The tables' owner
-- may use all of them. What a role may do its members may, too.
--
-- The functions run as the owner: `session_user` is the role that connected.

do $$
begin
    if to_regclass('cubby.member') is not null then
        return;
    end if;
    create table cubby.member (
        collection int not null,
        -- By its name, which a dump carries to another server.
        role name not null,
        -- Whether it may change items, or only read them.
        writes boolean not null,
        primary key (collection, role)
    );
    -- The roles that an older program let in used all collections: they keep those that there are.
    insert into cubby.member
        select distinct c.id, r.rolname, exists (
                select from pg_catalog.pg_proc p, pg_catalog.aclexplode(p.proacl) f
                    where p.pronamespace = 'cubby'::regnamespace and p.proname = 'commit' and f.grantee = r.oid)
            from cubby.collection c, pg_catalog.pg_class t, pg_catalog.aclexplode(t.relacl) a, pg_catalog.pg_roles r
            where t.oid = 'cubby.item'::regclass and a.privilege_type = 'SELECT' and a.grantee = r.oid
                and r.oid <> t.relowner;
end $$;

-- The collections whose rows the caller may read. A policy asks once a query.
create or replace function cubby.readable() returns int[]
    language plpgsql stable parallel safe security definer set search_path = pg_catalog, pg_temp as $$
begin
    if pg_has_role(session_user, current_user, 'member') then
        return array(select c.id from cubby.collection c);
    end if;
    return array(select m.collection from cubby.member m
        where pg_has_role(session_user, to_regrole(quote_ident(m.role)), 'member'));
end $$;

-- Whether the caller may change items of a collection.
create or replace function cubby.may_write(in_collection int) returns boolean
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    return pg_has_role(session_user, current_user, 'member') or exists (
        select from cubby.member m where m.collection = in_collection and m.writes
            and pg_has_role(session_user, to_regrole(quote_ident(m.role)), 'member'));
end $$;

-- Refuses a caller who may not.
create or replace function cubby.check_writer(in_collection int) returns void
    language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
    if not cubby.may_write(in_collection) then
        raise exception 'the role "%" may not change items of the collection', session_user using errcode = '42501';
    end if;
end $$;

-- What a role gets that may use some collection: it reads the tables, of which policies show it its collections' rows, and
-- changes items through functions alone, which ask what it may. The owner calls this, and the next two.
create or replace function cubby.admit(in_role name) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    execute format('grant usage on schema cubby to %I', in_role);
    execute format('grant select on all tables in schema cubby to %I', in_role);
    execute format('grant execute on all functions in schema cubby to %I', in_role);
    execute format('revoke execute on function cubby.shorten_log, cubby.check_declared, cubby.admit, cubby.open_to, '
        'cubby.close_to from %I', in_role);
end $$;

-- Opens one collection to a role.
create or replace function cubby.open_to(in_collection int, in_role name, in_writes boolean) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
    known oid;
begin
    select r.oid into known from pg_roles r where r.rolname = in_role;
    if not found then
        raise exception 'role "%" does not exist', in_role using errcode = '42704';
    end if;
    -- What a role of this name had, and was dropped with it, is not this one's.
    if not exists (select from pg_namespace n, aclexplode(n.nspacl) a where n.nspname = 'cubby' and a.grantee = known) then
        delete from cubby.member m where m.role = in_role;
    end if;
    insert into cubby.member as m (collection, role, writes) values (in_collection, in_role, in_writes)
        on conflict on constraint member_pkey do update set writes = excluded.writes;
    perform cubby.admit(in_role);
end $$;

-- Closes one collection to a role, which loses all rights with its last one; false if it was not open to it.
create or replace function cubby.close_to(in_collection int, in_role name) returns boolean
    language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
    delete from cubby.member m where m.collection = in_collection and m.role = in_role;
    if not found then
        return false;
    end if;
    if to_regrole(quote_ident(in_role)) is not null and not exists (select from cubby.member m where m.role = in_role) then
        execute format('revoke all on all tables in schema cubby from %I', in_role);
        execute format('revoke all on all functions in schema cubby from %I', in_role);
        execute format('revoke all on schema cubby from %I', in_role);
    end if;
    return true;
end $$;
