import ColumnEngine
import Foundation
import PredicateFormat
import PropertyList
import TestSupport
import Testing

@testable import Items

/// What is at hand before a transaction begins.
struct KnownItems {
    let store: ItemStore
    let item: Item
    let query: ItemQuery
    let groups: ItemGroups
    let cursor: ItemCursor

    init(_ store: ItemStore) throws {
        self.store = store
        item = try #require(store.item(forKey: "k"))
        query = store.query()
        groups = try query.groups(by: .field(.name))
        cursor = store.each()
    }

    var reference: ItemReference { store.reference(to: item) }
    var group: ItemGroup { groups[0] }
}

/// A member of the store, and what it reads.
struct Reading: CustomTestStringConvertible {
    enum Scope { case item, whole }

    let name: String
    let scope: Scope
    let run: @Sendable (KnownItems) throws -> Void

    init(_ name: String, _ scope: Scope, _ run: @escaping @Sendable (KnownItems) throws -> Void) {
        (self.name, self.scope, self.run) = (name, scope, run)
    }

    var testDescription: String { name }

    static let all = ofItem + ofStore + ofQuery + ofGroups + aggregates

    private static let ofItem = [
        Reading("Item.itemKey", .item) { _ = try $0.item.itemKey },
        Reading("Item.name", .item) { _ = try $0.item.name },
        Reading("Item.title", .item) { _ = $0.item.title },
        Reading("Item.serialNumber", .item) { _ = try $0.item.serialNumber },
        Reading("Item.valueInDollars", .item) { _ = try $0.item.valueInDollars },
        Reading("Item.dateCreated", .item) { _ = try $0.item.dateCreated },
        Reading("Item.isRemoved", .item) { _ = $0.item.isRemoved },
        Reading("Item.value", .item) { _ = try $0.item.value(forField: "room") },
        Reading("Item.value", .item) { _ = try $0.item.value(for: .name) },
        Reading("Item.withUTF8", .item) { try $0.item.withUTF8(of: .name) { _ in } },
        Reading("Item.customFieldNames", .item) { _ = try $0.item.customFieldNames },
        Reading("Item.allFields", .item) { _ = try $0.item.allFields },
        Reading("Item.description", .item) { _ = $0.item.description },
        Reading("Item.copy", .item) { _ = try $0.item.copy() },
        Reading("Item.remove", .item) { try $0.item.remove() },
        Reading("Item.setName", .item) { try $0.item.setName("vase") },
        Reading("Item.setSerialNumber", .item) { try $0.item.setSerialNumber(nil) },
        Reading("Item.setValueInDollars", .item) { try $0.item.setValueInDollars(7) },
        Reading("Item.setDateCreated", .item) {
            try $0.item.setDateCreated(PropertyListDate(secondsSinceReferenceDate: 1))
        },
        Reading("Item.setValue", .item) { try $0.item.setValue(nil, forField: "room") },
        Reading("Item.increment", .item) { _ = try $0.item.increment("times") },
        Reading("Item.setUTF8", .item) { known in
            try "vase".utf8.withContiguousStorageIfAvailable { try known.item.setUTF8($0, for: .name) }
        },
        Reading("Item.position", .whole) { _ = try $0.item.position },
        Reading("Item.label", .item) { _ = try $0.item.label },
        Reading("Item.satisfies", .item) { _ = try $0.item.satisfies(FormatPredicate(format: "name == 'vase'")) },
    ]

    private static let ofStore = [
        Reading("ItemStore.item", .item) { _ = $0.store.item(forKey: "k") },
        Reading("ItemStore.item", .item) { known in
            "k".utf8.withContiguousStorageIfAvailable { _ = known.store.item(forKeyUTF8: $0) }
        },
        Reading("ItemStore.reference", .item) { known in
            "k".utf8.withContiguousStorageIfAvailable { _ = known.store.reference(forKeyUTF8: $0) }
        },
        Reading("ItemStore.isRemoved", .item) { _ = $0.store.isRemoved($0.reference) },
        Reading("ItemStore.integer", .item) { _ = try $0.store.integer(of: .valueInDollars, $0.reference) },
        Reading("ItemStore.date", .item) { _ = try $0.store.date(of: .dateCreated, $0.reference) },
        Reading("ItemStore.value", .item) { _ = try $0.store.value(of: .name, $0.reference) },
        Reading("ItemStore.misfits", .whole) { _ = $0.store.misfits() },
        Reading("ItemStore.carriedNotices", .whole) { _ = $0.store.carriedNotices },
        Reading("ItemStore.withUTF8", .item) { try $0.store.withUTF8(of: .name, $0.reference) { _ in } },
        Reading("ItemStore.setInteger", .item) {
            try $0.store.setInteger(7, for: .valueInDollars, of: $0.reference)
        },
        Reading("ItemStore.setValue", .item) { try $0.store.setValue(nil, for: .serialNumber, of: $0.reference) },
        Reading("ItemStore.increment", .item) {
            _ = try $0.store.increment("times", of: $0.reference, by: .integer(1))
        },
        Reading("ItemStore.setUTF8", .item) { known in
            try "vase".utf8.withContiguousStorageIfAvailable {
                try known.store.setUTF8($0, for: .name, of: known.reference)
            }
        },
        Reading("ItemStore.createItem", .item) { _ = try? $0.store.createItem(ItemFields(itemKey: "k")) },
        Reading("ItemStore.insert", .item) { known in
            let draft = try known.store.beginItem()
            try draft.set(.string("k"), for: .itemKey)
            if (try? known.store.insert(draft)) == nil { draft.discard() }
        },
        Reading("ItemStore.insertReference", .item) { known in
            let draft = try known.store.beginItem()
            try draft.set(.string("k"), for: .itemKey)
            if (try? known.store.insertReference(draft)) == nil { draft.discard() }
        },
        Reading("ItemStore.importItems", .item) { known in
            _ = try? known.store.importItems(Array("itemKey\nk\n".utf8), path: "a.csv", ItemFileOptions(format: .csv))
        },
        Reading("ItemStore.importToAllItems", .whole) {
            _ = try $0.store.importToAllItems(ItemFileOptions(format: .csv))
        },
        Reading("ItemStore.fieldSummaries", .whole) { _ = try $0.store.fieldSummaries() },
        Reading("ItemStore.importReport", .item) { known in
            _ = try? known.store.importReport(
                Array("itemKey\nk\n".utf8), path: "a.csv", ItemFileOptions(format: .csv))
        },
        Reading("Item.json", .item) { _ = try $0.item.json(isPretty: false) },
        Reading("ItemStore.convert", .whole) { _ = try? $0.store.convert("unknown", to: .integer) },
        Reading("ItemStore.removeItem", .item) { try $0.store.removeItem($0.item) },
        Reading("ItemStore.removeItems", .item) { try $0.store.removeItems([$0.item]) },
        Reading("ItemStore.count", .whole) { _ = $0.store.count },
        Reading("ItemStore.subscript", .whole) { _ = $0.store[0] },
        Reading("ItemStore.reference", .whole) { _ = $0.store.reference(at: 0) },
        Reading("ItemStore.allItems", .whole) { _ = $0.store.allItems },
        Reading("ItemStore.allReferences", .whole) { _ = $0.store.allReferences },
        Reading("ItemStore.each", .whole) { _ = $0.store.each() },
        Reading("ItemStore.moveItem", .whole) { try $0.store.moveItem(from: 0, to: 1) },
        Reading("ItemStore.existingField", .whole) { _ = $0.store.existingField(named: "unknown") },
        Reading("ItemStore.fieldNames", .whole) { _ = $0.store.fieldNames },
        Reading("ItemStore.key", .whole) { _ = try? $0.store.key("unknown") },
        Reading("ItemStore.query", .whole) { _ = try $0.store.query(FormatPredicate(format: "name == 'vase'")) },
        Reading("ItemStore.dryRun", .whole) { _ = try $0.store.dryRun {} },
        Reading("ItemStore.exportItems", .whole) { _ = try $0.store.exportItems(ItemFileOptions(format: .csv)) },
        Reading("ItemStore.exportItems", .whole) {
            _ = try $0.store.exportItems(ItemFileOptions(format: .keyedArchive))
        },
        Reading("ItemStore.version", .whole) { _ = $0.store.version },
        Reading("ItemStore.rowCount", .whole) { _ = $0.store.rowCount },
        Reading("ItemStore.textBytes", .whole) { _ = $0.store.textBytes },
        Reading("ItemStore.indexBytes", .whole) { _ = $0.store.indexBytes },
        Reading("ItemCursor.next", .item) { _ = $0.cursor.next() },
        Reading("ItemCursor.nextReference", .item) { _ = $0.cursor.nextReference() },
    ]

    private static let ofQuery = [
        Reading("ItemQuery.filter", .whole) { _ = try $0.query.filter(FormatPredicate(format: "name == 'vase'")) },
        Reading("ItemQuery.sorted", .whole) { _ = try? $0.query.sorted("unknown") },
        Reading("ItemQuery.all", .whole) { _ = try $0.query.all() },
        Reading("ItemQuery.all", .whole) { _ = try $0.query.filter { _ in true }.all() },
        Reading("ItemQuery.all", .whole) { _ = try $0.query.sorted("itemKey").all() },
        Reading("ItemQuery.references", .whole) { _ = try $0.query.references() },
        Reading("ItemQuery.copyReferences", .whole) { try $0.query.copyReferences { _ in nil } },
        Reading("ItemQuery.first", .whole) { _ = try $0.query.first() },
        Reading("ItemQuery.firstReference", .whole) { _ = try $0.query.firstReference() },
        Reading("ItemQuery.firstReferences", .whole) { _ = try $0.query.firstReferences(2) },
        Reading("ItemQuery.count", .whole) { _ = try $0.query.count() },
        Reading("ItemQuery.describe", .whole) { _ = try $0.query.describe() },
        Reading("ItemQuery.exportItems", .whole) { _ = try $0.query.exportItems(ItemFileOptions(format: .csv)) },
        Reading("ItemQuery.json", .whole) { _ = try $0.query.json(ItemFileOptions(format: .json), isPretty: false) },
        Reading("ItemQuery.explain", .whole) { _ = try $0.query.explain() },
        Reading("ItemQuery.rows", .whole) { _ = try $0.query.rows() },
        Reading("ItemQuery.visit", .whole) { try $0.query.visit(changes: false) { _ in false } },
        Reading("ItemQuery.carriedNotices", .whole) { _ = try $0.query.carriedNotices(exporting: nil) },
        Reading("ItemQuery.aggregate", .whole) { _ = try $0.query.aggregate(.sum, .field(.valueInDollars)) },
        Reading("ItemQuery.each", .whole) { try $0.query.each { _ in false } },
        Reading("ItemQuery.values", .whole) { _ = try $0.query.values(of: ["count(name == 'vase')"]) },
        Reading("ItemQuery.counts", .whole) { _ = try $0.query.counts(["name"]) },
        Reading("ItemQuery.groupBy", .whole) { _ = try $0.query.groupBy("name") },
        Reading("ItemQuery.groups", .whole) { _ = try $0.query.groups(by: .field(.name)) },
        Reading("ItemQuery.distinct", .whole) { _ = try $0.query.distinct("name") },
        Reading("ItemQuery.values", .whole) { _ = try $0.query.values(of: [.field(.name)]) },
        Reading("ItemQuery.update", .whole) { try $0.query.filter { _ in false }.update(["name": .string("x")]) },
        Reading("ItemQuery.remove", .whole) { try $0.query.filter { _ in false }.remove() },
    ]

    private static let ofGroups = [
        Reading("ItemGroup.items", .item) { _ = $0.group.items },
        Reading("ItemGroup.references", .item) { _ = $0.group.references },
        Reading("ItemGroup.values", .whole) { _ = try $0.group.values(of: ["median(valueInDollars)"]) },
        Reading("ItemGroups.aggregate", .whole) { _ = try $0.groups.aggregate(["count()"]) },
        Reading("ItemGroups.sorted", .whole) { _ = try $0.groups.sorted(by: "sum(valueInDollars)") },
    ]

    private static let aggregates = [
        Reading("ItemAggregating.value", .whole) { _ = try $0.group.value(of: "variance(valueInDollars)") },
        Reading("ItemAggregating.sum", .whole) { _ = try $0.query.sum("valueInDollars") },
        Reading("ItemAggregating.average", .whole) { _ = try $0.query.average("valueInDollars") },
        Reading("ItemAggregating.median", .whole) { _ = try $0.group.median("valueInDollars") },
        Reading("ItemAggregating.percentile", .whole) { _ = try $0.query.percentile("valueInDollars", 90) },
        Reading("ItemAggregating.standardDeviation", .whole) {
            _ = try $0.query.standardDeviation("valueInDollars")
        },
        Reading("ItemAggregating.variance", .whole) { _ = try $0.group.variance("valueInDollars") },
        Reading("ItemAggregating.min", .whole) { _ = try $0.query.min("valueInDollars") },
        Reading("ItemAggregating.max", .whole) { _ = try $0.group.max("valueInDollars") },
    ]

    /// Members that say nothing of items as they are now, with the reason.
    static let silent: [String: Set<String>] = [
        "refused within a transaction": [
            "ItemStore.undo", "ItemStore.redo", "ItemStore.saveChanges", "ItemStore.beginSave", "ItemStore.finish",
            "ItemStore.apply", "ItemStore.followOwner", "ItemStore.keepMine", "ItemStore.keepTheirs",
            "ItemStore.resolve",
        ],
        "of commits that are none of the collection's yet": ["ItemStore.conflicts"],
        "read by others of the table: the value of an item, and items by their keys": ["ItemStore.related"],
        "of declarations: a commit of a host that has not seen the last one is behind": [
            "ItemStore.declare", "ItemStore.declarations", "ItemStore.declaredFields", "ItemStore.declarationNotices",
            "ItemStore.hasReferences", "ItemStore.hasDays", "ItemStore.hasMoney", "ItemStore.ordered",
            "ItemStore.shown",
            "ItemStore.fieldDocumentation",
            "ItemStore.hasDeclaredFields", "ItemStore.haveDays", "ItemStore.titleName", "ItemGroup.hasDays",
        ],
        "this host's own": [
            "ItemStore.canUndo", "ItemStore.canRedo", "ItemStore.hasChanges", "ItemStore.lastCommit",
            "ItemStore.hasUncommittedChanges",
            "ItemStore.isJournalLong", "ItemStore.history", "ItemStore.durability", "ItemStore.loadReport",
            "ItemStore.isReadOnly", "ItemStore.isConnected", "ItemStore.takesCommits", "ItemStore.waitingCommits",
            "ItemStore.archivePath", "ItemStore.onDamage", "ItemStore.onLeftOut",
            "ItemStore.attachments", "ItemStore.indexedFields", "ItemStore.createIndex", "ItemStore.dropIndex",
            "ItemStore.defaultRetries", "ItemStore.isInTransaction", "ItemStore.commitGeneration",
            "ItemStore.commitCounter",
            "ItemStore.undoAttachmentCount", "ItemStore.undoTally",
        ],
        "a transaction's and a commit's own steps": [
            "ItemStore.transaction", "ItemStore.beginTransaction", "ItemStore.endTransaction",
            "ItemStore.rollBackTransaction", "ItemStore.commit", "ItemStore.commitInGroup", "ItemStore.endGroup",
            "ItemStore.synchronize", "ItemStore.applyRemoteCommits", "ItemStore.connectionWasLost", "ItemStore.open",
            "ItemStore.init", "ItemStore.delayPublishing", "ItemStore.publishDelayed", "ItemStore.performBulkChange",
        ],
        "it adds": ["ItemStore.randomItem", "ItemStore.beginItem"],
        "told of changes, and reads none": [
            "ItemStore.addObserver", "ItemStore.removeObserver", "ItemStore.addCommitObserver",
            "ItemStore.removeCommitObserver",
        ],
        "a name, a number, an object": [
            "ItemStore.field", "ItemStore.name", "ItemStore.schema", "ItemStore.revision", "ItemStore.zeroingReference",
            // Whoever holds an older one finds it changed by the transaction's begin.
            "ItemStore.epoch", "Item.store", "Item.==", "Item.hash", "ItemQuery.store",
        ],
        "a question, or a part of an answer that was given before": [
            "ItemQuery.init", "ItemQuery.owner", "ItemQuery.conditions", "ItemQuery.order", "ItemQuery.limitCount",
            "ItemQuery.limit", "ItemQuery.offset", "ItemQuery.isLimited", "ItemQuery.reordered", "ItemQuery.fields",
            "ItemGroup.init", "ItemGroup.order", "ItemGroup.owner", "ItemGroup.key", "ItemGroup.field",
            "ItemGroup.store", "ItemGroups.store",
            "ItemGroup.otherKeys", "ItemGroup.keys", "ItemGroup.rows", "ItemGroup.count",
            "ItemGroups.startIndex", "ItemGroups.endIndex", "ItemGroups.subscript", "ItemGroups.limit",
        ],
    ]

    /// The members that the sources declare: `Item.name`.
    static func declared() throws -> Set<String> {
        let folders = ["Items/Store", "Items/Query", "Items/Exchange", "ColumnEngine/Query"]
        let files = try folders.flatMap { folder in
            let path = "\(Project.root)/Sources/\(folder)"
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }.map {
                "\(path)/\($0)"
            }
        }
        let types: Set<Substring> = [
            "ItemStore", "Item", "ItemCursor", "ItemQuery", "ItemGroup", "ItemGroups", "ItemAggregating",
        ]
        var names: Set<String> = []
        for file in files {
            var type: Substring?
            for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
                if let found = line.wholeMatch(
                    of: /(?:public |package )?(?:final )?(?:extension|class|struct|enum|protocol) (\w+).*/)
                {
                    type = types.contains(found.1) ? found.1 : nil
                }
                guard let type,
                    let found = line.firstMatch(
                        of:
                            /^    (?:@\w+ )*(?:public|package) (?:internal\(set\) |private\(set\) |static |convenience |lazy )*(?:(?:func|var|let) ([\w=]+)|(subscript|init)\b)/
                    )
                else { continue }
                names.insert("\(type).\(found.1 ?? found.2 ?? "")")
            }
        }
        return names
    }
}
