import Foundation
import ItemsTestSupport
import PredicateFormat
import PropertyList
import Synchronization
import Testing

@testable import ColumnEngine
@testable import ItemArchive
@testable import Items

/// Queries and changes on one thread while others read a snapshot: for the thread sanitizer, too.
@Suite("Queries beside a snapshot")
struct SnapshotQueryTests {
    /// What another thread gives back.
    private final class Outcome<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)
        private let ended = DispatchSemaphore(value: 0)

        init(_ body: @escaping @Sendable () -> Value) {
            Thread.detachNewThread {
                let result = body()
                self.value.withLock { $0 = result }
                self.ended.signal()
            }
        }

        func wait() -> Value? {
            ended.wait()
            return value.withLock { $0 }
        }
    }

    private static let count = 1500

    private func fill(_ store: ItemStore) throws {
        for place in 0..<Self.count {
            var custom: PropertyListFields = [
                "integers": .integer(Int64(place % 90)), "reals": .real(Double(place) / 4),
                "dates": .date(PropertyListDate(secondsSinceReferenceDate: Double(place))),
                "codes": .string("a text that repeats, number \(place % 7)"),
                "cells": .string("a text of item \(place)"),
                "mixed": .array([.integer(Int64(place))]),
            ]
            if place % 100 == 0 { custom["rare"] = .integer(Int64(place)) }
            try store.createItem(ItemFields(name: "item \(place)", itemKey: "key \(place)", custom: custom))
        }
        try store.commit()
    }

    /// Every operator and every encoding; each changes a part of the columns before the next question.
    private func work(_ store: ItemStore) throws {
        let predicates = try [
            "integers BETWEEN {10, 20}", "reals > 100", "codes ENDSWITH '3'", "cells CONTAINS '77'", "rare > 500",
            "integers * reals < 400", "dates > CAST(500, 'NSDate')", "NOT (codes LIKE '*5' OR mixed.@count == 0)",
        ].map { try FormatPredicate(format: $0) }
        for (turn, predicate) in predicates.enumerated() {
            let query = try store.query(predicate)
            let found = try query.count()
            #expect(found > 0 && found < Self.count, "\(predicate)")
            #expect(try query.sorted("codes").sorted("reals", descending: true).limit(50).all().count <= 50)
            #expect(try store.query().groupBy("codes").count >= 7)
            #expect(try store.query().sum("integers * 2") != .integer(0))
            for place in stride(from: turn, to: Self.count, by: 40) {
                guard let item = store.item(forKey: "key \(place)") else { continue }
                try item.setValue(turn == 5 ? .real(0.5) : .integer(Int64(turn)), forField: "integers")
                try item.setValue(turn == 3 ? .boolean(true) : .string("new \(place)"), forField: "codes")
                try item.setValue(turn % 2 == 0 ? nil : .string("another text of item \(place)"), forField: "cells")
                try item.setValue(.integer(Int64(place)), forField: "rare")
                try item.setValue(.integer(Int64(turn)), forField: "new \(turn / 3)")
            }
            if turn % 3 == 2, let first = store[0] { try store.removeItem(first) }
            try store.createItem(ItemFields(name: "new \(turn)", custom: ["integers": .integer(15)]))
            try store.commit()
        }
    }

    @Test("a save writes the items as they were, and the journal what came beside it", arguments: [false, true])
    func save(isMapped: Bool) throws {
        let folder = try StoreFolder()
        var store = try folder.open(mapped: isMapped)
        try fill(store)
        if isMapped {
            try store.saveChanges()
            store = try folder.open(mapped: true)
            #expect(store.columns.document.source != nil)
            try store.createItem(ItemFields(itemKey: "one more"))
        }
        for _ in 0..<3 {
            let save = try #require(try store.beginSave())
            let written = Outcome { save.write() }
            try work(store)
            try store.finish(save, try #require(written.wait()))
            #expect(try folder.open(isReadOnly: true, mapped: isMapped).records == store.records)
        }
    }

    @Test("threads read the items of their snapshots while the store goes on")
    func readers() throws {
        let store = ItemStore()
        try fill(store)
        for _ in 0..<3 {
            let expected = try store.records
            let first = ItemSnapshot(store.columns)
            let readers = [first, ItemSnapshot(first)].map { snapshot in
                Outcome { (0..<snapshot.count).map { snapshot.fields(at: $0) } }
            }
            try work(store)
            for reader in readers {
                let areSame = reader.wait() == expected
                #expect(areSame)
            }
        }
    }
}
