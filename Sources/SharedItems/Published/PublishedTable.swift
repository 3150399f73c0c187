import ColumnEngine
import Files
import ItemArchive
import PropertyList

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

/// An item as a row of a published table, in the JSON that the server's function takes: `k` is its key, `f` all its fields, `e`
/// those whose texts are escaped; `0`, `1` and so on are the values of the columns.
enum PublishedRow {
    /// The row of an item of the server's table, from its record: the same for whoever writes it.
    ///
    /// - Parameters:
    ///   - record: the item's record, with its checksum. Its bytes are not trusted.
    ///   - rank: the item's rank.
    ///   - schema: the fields of every item.
    ///   - columns: the columns of fields.
    ///   - revision: the item's revision, which the server knows better of a commit; as `v`.
    /// - Returns: the row, in UTF-8.
    /// - Throws: `StoreError` with `corruptJournal`, or for a value that JSON cannot have.
    static func text(
        of record: [UInt8], rank: [UInt8], _ schema: ItemSchema, _ columns: [PublishedColumn], revision: UInt64? = nil
    ) throws(StoreError) -> [UInt8] {
        let changes = try RecordChecksum.changes(of: record, rank: rank[...], schema)
        guard changes.count == 1, case .insert(let key, let values, _) = changes[0] else {
            throw StoreError(.corruptJournal, "the record of an item is none")
        }
        return try text(key, values, columns, revision)
    }

    private static func text(
        _ key: String, _ values: PropertyListFields, _ columns: [PublishedColumn], _ revision: UInt64?
    ) throws(StoreError) -> [UInt8] {
        var text = JSONText(.compact)
        let shownKey = PublishedText.name(key)
        var escaped = shownKey == key ? [] : ["itemKey"]
        text.append("{")
        text.key("k")
        text.string(shownKey)
        text.append(",")
        text.key("f")
        text.append("{")
        var isFirst = true
        for (name, value) in values where name != "itemKey" {
            let shownName = PublishedText.name(name)
            let isPlain = shownName == name && PublishedText.isPlain(value)
            if !isPlain { escaped.append(shownName) }
            text.next(1, isFirst: isFirst)
            isFirst = false
            text.key(shownName)
            try write(isPlain ? value : PublishedText.escaped(value), to: &text)
        }
        text.append("}")
        for (place, column) in columns.enumerated() {
            guard column.field != "itemKey", let stored = values[column.field], let type = column.type else { continue }
            let isEscaped = !escaped.isEmpty && escaped.contains(PublishedText.name(column.field))
            let value = isEscaped ? PublishedText.escaped(stored) : stored
            if type == .jsonb {
                text.append(",")
                text.key("\(place)")
                try write(value, to: &text)
            } else if let input = type.text(of: value) {
                text.append(",")
                text.key("\(place)")
                text.string(input)
            }
        }
        if !escaped.isEmpty {
            text.append(",")
            text.key("e")
            text.append("[\(escaped.sorted().map(JSONText.quoted).joined(separator: ","))]")
        }
        if let revision { text.append(",\"v\":\(revision)") }
        text.append("}")
        return text.bytes
    }

    private static func write(_ value: PropertyListValue, to text: inout JSONText) throws(StoreError) {
        switch value {
        case .array, .set, .dictionary:
            do throws(PropertyListError) { text.append(json: try value.losslessJSON()) } catch {
                throw StoreError(.inputOutput, "a value cannot be written as JSON: \(error.message)")
            }
        default: text.leaf(value)
        }
    }
}

/// Texts in the form in which PostgreSQL has all of them: its `text` and `jsonb` have neither U+0000 nor half of a surrogate
/// pair.
///
/// In an escaped text a backslash is `\\`, U+0000 is `\0`, and half of a surrogate pair is `\ud83d`: it reads back exactly.
enum PublishedText {
    private static let backslash: Unicode.Scalar = "\\"

    /// Whether all texts of a value are as they can be in PostgreSQL.
    static func isPlain(_ value: PropertyListValue) -> Bool {
        switch value {
        case .string(let text): !hasNull(text)
        case .utf16: false
        case .array(let elements), .set(let elements): elements.allSatisfy(isPlain)
        case .dictionary(let entries): entries.entries.allSatisfy { isPlain($0.key) && isPlain($0.value) }
        case .null, .boolean, .integer, .wideInteger, .real, .single, .date, .data, .uid: true
        }
    }

    /// A value whose texts are escaped, all of them: those of a field are all escaped, or none is.
    static func escaped(_ value: PropertyListValue) -> PropertyListValue {
        switch value {
        case .string(let text): .string(escaped(text))
        case .utf16(let units): .string(escaped(units))
        case .array(let elements): .array(elements.map(escaped))
        case .set(let elements): .set(elements.map(escaped))
        case .dictionary(let entries):
            .dictionary(PropertyListDictionary(entries.entries.map { (escaped($0.key), escaped($0.value)) }))
        case .null, .boolean, .integer, .wideInteger, .real, .single, .date, .data, .uid: value
        }
    }

    private static func hasNull(_ text: String) -> Bool { text.utf8.contains(0) }

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return String(result)
    }

    private static func escaped(_ units: [UInt16]) -> String {
        var result = String.UnicodeScalarView()
        var index = 0
        while index < units.count {
            let unit = units[index]
            let next = index + 1 < units.count ? units[index + 1] : 0
            index += 1
            if let scalar = Unicode.Scalar(unit) {
                append(scalar, to: &result)
            } else if UTF16.isLeadSurrogate(unit), UTF16.isTrailSurrogate(next) {
                result.append(contentsOf: String(decoding: [unit, next], as: UTF16.self).unicodeScalars)
                index += 1
            } else {
                result.append(contentsOf: "\\u\(String(unit, radix: 16))".unicodeScalars)
            }
        }
        return String(result)
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String.UnicodeScalarView) {
        switch scalar {
        case backslash: result.append(contentsOf: "\\\\".unicodeScalars)
        case "\0": result.append(contentsOf: "\\0".unicodeScalars)
        default: result.append(scalar)
        }
    }

    // MARK: Names

    /// A key of an item, or a field's name. One that has to be escaped has one more backslash in front; so has one that
    /// begins with a backslash: two names never become one.
    static func name(_ name: String) -> String {
        guard hasNull(name) || name.unicodeScalars.first == backslash else { return name }
        return "\\" + escaped(name)
    }

    /// The inverse of ``name(_:)``.
    static func field(named name: String) -> String {
        guard name.unicodeScalars.first == backslash else { return name }
        var result = String.UnicodeScalarView()
        var isAfterBackslash = false
        for scalar in name.unicodeScalars.dropFirst() {
            if scalar == backslash, !isAfterBackslash {
                isAfterBackslash = true
                continue
            }
            result.append(isAfterBackslash && scalar == "0" ? "\0" : scalar)
            isAfterBackslash = false
        }
        return String(result)
    }
}
