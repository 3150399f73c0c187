/// The table of a publication, in SQL.
struct PublishedTable {
    let publication: Publication

    init(_ publication: Publication) { self.publication = publication }

    /// The table's name.
    var items: String { "\(Self.quoted(publication.schema)).items" }

    /// A name in quotes.
    private static func quoted(_ name: String) -> String {
        "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }

    private var columns: [String] { publication.columns.map { Self.quoted($0.name) } }

    /// The commands that make the table and its function, or change the former ones. Their owner is that of the collections'
    /// tables, in quotes if it needs them.
    func definition(_ former: Publication?, owner: String) -> String {
        let schema = Self.quoted(publication.schema)
        let types = publication.columns.map { ($0, "\(Self.quoted($0.name)) \($0.type?.rawValue ?? "")") }
        var commands: [String] = []
        if let former {
            if former.schema != publication.schema {
                commands.append("alter schema \(Self.quoted(former.schema)) rename to \(schema)")
            }
            for column in former.columns where !publication.columns.contains(column) {
                commands.append("alter table \(items) drop column \(Self.quoted(column.name))")
            }
            for (column, type) in types where !former.columns.contains(column) {
                commands.append("alter table \(items) add column \(type)")
            }
        } else {
            commands.append("create schema \(schema)")
            let all =
                ["key text collate \"C\" primary key"] + types.map(\.1) + [
                    "fields jsonb not null", "escaped text[]", "rank bytea not null", "revision bigint not null",
                ]
            // Room in each page for the new version of a row beside the old one: the index is not touched then.
            commands.append("create table \(items) (\(all.joined(separator: ", "))) with (fillfactor = 80)")
        }
        let body = self.body
        var tag = "$rows$"
        // A field may have any name.
        while body.contains(tag) { tag = "$x\(tag.dropFirst())" }
        commands.append(
            "create or replace function \(publication.function)(in_version int, in_revision bigint, in_removed text[], "
                + "in_ranks bytea[], in_rows text[]) returns boolean language plpgsql security definer "
                + "set search_path = pg_catalog, pg_temp as \(tag)\(body)\(tag)")
        commands += [
            "revoke all on function \(publication.function) from public",
            "alter schema \(schema) owner to \(owner)", "alter table \(items) owner to \(owner)",
            "alter function \(publication.function) owner to \(owner)",
        ]
        return commands.joined(separator: ";\n")
    }

    /// What the function does. It belongs to a commit, which has asked whether the host may write: the row of the log is of the
    /// same transaction.
    private var body: String {
        """

        begin
            if in_version <> \(publication.version) or not exists (
                    select from cubby.log l where l.collection = \(publication.number) and l.revision = in_revision
                        and l.xmin = pg_current_xact_id()::xid) then
                raise exception 'the collection is published otherwise than this host knows: commit again'
                    using errcode = 'CB005';
            end if;
            if cardinality(in_removed) > 0 then
                delete from \(items) where key = any (in_removed);
            end if;
            if cardinality(in_rows) > 0 then
                insert into \(items) as i (\(names))
                    select \(values), n.rank, in_revision
                        from unnest(in_ranks, in_rows) as n (rank, line), json_to_record(n.line::json) as r (\(record))
                    on conflict (key) do update set \(assignments);
            end if;
            perform set_config('cubby.rows', '\(publication.number):' || in_revision, true);
            return true;
        end
        """
    }

    /// Writes the rows of items, as far as they are still as they were read. Its parameters are the keys of items and the rows,
    /// with revisions.
    var filling: String {
        """
        insert into \(items) as i (\(names))
            select \(values), o.rank, o.version
                from unnest($1::bytea[], $2::text[]) as n (key, line), json_to_record(n.line::json) as r (\(record), "v" bigint),
                    cubby.item o
                where o.collection = \(publication.number) and o.key = n.key and o.version = r."v"
            on conflict (key) do update set \(assignments)
                where row(\(prefixed("i"))) is distinct from row(\(prefixed("excluded")))
        """
    }

    private var names: String {
        (["key"] + columns + ["fields", "escaped", "rank", "revision"]).joined(separator: ", ")
    }

    /// The values of a row as JSON, in the order of the names; without rank and revision.
    private var values: String {
        (["r.\"k\""] + columns.indices.map { "r.\"\($0)\"" } + ["r.\"f\"", "r.\"e\""]).joined(separator: ", ")
    }

    private var record: String {
        (["\"k\" text"] + publication.columns.enumerated().map { "\"\($0)\" \($1.type?.rawValue ?? "")" }
            + ["\"f\" jsonb", "\"e\" text[]"]).joined(separator: ", ")
    }

    private var written: [String] { columns + ["fields", "escaped", "rank", "revision"] }

    private var assignments: String { written.map { "\($0) = excluded.\($0)" }.joined(separator: ", ") }

    private func prefixed(_ table: String) -> String { written.map { "\(table).\($0)" }.joined(separator: ", ") }
}
