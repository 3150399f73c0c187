import Foundation
import TestSupport
import Testing

@testable import Lua

@Suite("Codable values in Lua")
struct LuaCodableTests {
    private let state: LuaState

    init() throws { state = try LuaState() }

    /// Encodes a value, has a chunk change or return it as `v`, and decodes the result.
    private func pass<In: Encodable, Out: Decodable>(_ value: In, through chunk: String, as type: Out.Type) throws
        -> Out
    {
        state.globals["v"] = try LuaEncoder(state).encode(value)
        return try decode(chunk, as: type)
    }

    private func decode<Out: Decodable>(_ chunk: String, as type: Out.Type) throws -> Out {
        let result = try state.load(chunk.utf8, name: "=test").call().first ?? .nil
        return try LuaDecoder().decode(type, from: result)
    }

    struct Lamp: Codable, Equatable {
        enum State: Codable, Equatable { case off, on(percent: Int), colours([String]) }
        var name: String
        var watts: UInt16
        var level: Double?
        var isOn = true
        var state = State.off
        var tags: [String] = []
        var holes: [Int?] = []
        var rooms: [Int: String] = [:]
        var parts: [String: [Lamp]] = [:]
        var since = Date(timeIntervalSince1970: 1.5)
        var picture = Data([0, 255, 10])
        var page = URL(string: "https://example.org/a?b")
        var kind = Kind.wall
        enum Kind: String, Codable { case wall, desk }
    }

    private let lamp = Lamp(
        name: "Desk", watts: 40, state: .on(percent: 70), tags: ["a", "b"], holes: [nil, 1, nil, nil], rooms: [3: "x"],
        parts: ["shade": [Lamp(name: "Shade", watts: 0, level: 0.5, state: .colours(["red"]), page: nil)]])

    @Test("what is encoded is decoded alike")
    func roundTrip() throws {
        #expect(try pass(lamp, through: "return v", as: Lamp.self) == lamp)
        #expect(try pass([lamp, lamp], through: "return v", as: [Lamp].self) == [lamp, lamp])
    }

    @Test("scripts see fields, elements and numbers as their own")
    func inLua() throws {
        let chunk = """
            assert(v.name == "Desk" and v.watts == 40 and math.type(v.watts) == "integer" and v.level == nil and v.isOn)
            assert(v.state.on.percent == 70 and #v.tags == 2 and v.holes.n == 4 and v.holes[2] == 1 and v.rooms[3] == "x")
            assert(v.parts.shade[1].state.colours._0[1] == "red" and v.since == 1.5 and v.picture == "\\0\\255\\n")
            v.watts = v.watts * 1.5
            return v
            """
        #expect(try pass(lamp, through: chunk, as: Lamp.self).watts == 60)
    }

    @Test("scalars and nil stand alone")
    func scalars() throws {
        #expect(try pass(true, through: "return not v", as: Bool.self) == false)
        #expect(try pass(Int8(-4), through: "return v * 32", as: Int8.self) == -128)
        #expect(try pass(Float(0.5), through: "return v", as: Float.self) == 0.5)
        #expect(try pass(Int?.none, through: "return v", as: Int?.self) == nil)
        #expect(try decode("return", as: String?.self) == nil)
        #expect(try decode("return 2.0", as: UInt64.self) == 2)
        #expect(try decode("return {1, nil, 3}", as: [Int?].self) == [1, nil, 3])
        #expect(try decode("return {n = 2}", as: [Int?].self) == [nil, nil])
        #expect(try decode("return {[3] = 'c'}", as: [String?].self) == [nil, nil, "c"])
        #expect(try decode("return {[2] = 'c', [4] = 'd'}", as: [Int: String].self) == [2: "c", 4: "d"])
    }

    @Test("a date that is none is refused", arguments: ["0/0", "1/0", "-1/0"])
    func dates(number: String) throws {
        let error = try #require(throws: DecodingError.self) { try decode("return \(number)", as: Date.self) }
        #expect(Self.text(of: error).hasSuffix(" is not a date"))
    }

    class Animal: Codable {
        var name = "cat"
    }

    final class Lion: Animal {
        var mane = 3
        enum Keys: CodingKey { case mane }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            mane = try container.decode(Int.self, forKey: .mane)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(mane, forKey: .mane)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test("a superclass is the field super")
    func superclass() throws {
        #expect(
            try pass(Lion(), through: "v.super.name = v.super.name .. v.mane return v", as: Lion.self).name == "cat3")
    }

    @Test(
        "errors name the coding path",
        arguments: [
            ("return {{name = 'x', watts = 70000}}", "Index 0/watts: 70000 does not fit into UInt16"),
            ("return {{name = 'x', watts = 1.5}}", "Index 0/watts: 1.5 is not an integer, or beyond 64 bits"),
            ("return {{name = 'x', watts = '1'}}", "Index 0/watts: integer expected, got string"),
            ("return {{name = 'x'}}", "Index 0: there is no field 'watts'"),
            ("return {{name = '\\255', watts = 1}}", "Index 0/name: the string is not UTF-8"),
            ("return {{name = 'x', watts = 1, tags = {'a', {}}}}", "Index 0/tags/Index 1: string expected, got table"),
            (
                "return {{name = 'x', watts = 1, tags = {a = 1}}}",
                "Index 0/tags: an array has keys from 1, got a string as a key"
            ),
            (
                "return {{name = 'x', watts = 1, tags = {[1 << 60] = ''}}}",
                "Index 0/tags: an array with 1 elements up to 1152921504606846976"
            ),
            (
                "return {{name = 'x', watts = 1, tags = {n = 1 << 62}}}",
                "Index 0/tags: an array with 0 elements up to 4611686018427387904"
            ),
            ("return {nil, 1}", "Index 0: table expected, got nil"),
        ])
    func errors(chunk: String, message: String) throws {
        struct Few: Decodable {
            var name: String
            var watts: UInt16
            var tags: [String]?
        }
        let error = try #require(throws: DecodingError.self) { try decode(chunk, as: [Few].self) }
        #expect(Self.text(of: error) == message)
    }

    private static func text(of error: DecodingError) -> String {
        let context =
            switch error {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: DecodingError.Context(codingPath: [], debugDescription: "?")
            }
        let path = context.codingPath.map { $0.intValue.map { "Index \($0)" } ?? $0.stringValue }
        return path.joined(separator: "/") + ": " + context.debugDescription
    }

    @Test("a number beyond Lua's integers is refused with its path")
    func tooLarge() throws {
        let error = try #require(throws: EncodingError.self) {
            try LuaEncoder(state).encode(["a": [1, UInt64.max]])
        }
        guard case .invalidValue(let value, let context) = error else { return }
        #expect(value as? UInt64 == .max)
        #expect(context.codingPath.map(\.stringValue) == ["a", "1"])
    }

    final class Node: Codable {
        var next: Node?
        var nodes: [Node]?
    }

    @Test("cycles end with an error", arguments: ["v.next = v", "v.nodes = {v}", "v.nodes = {{nodes = {{next = v}}}}"])
    func cycles(chunk: String) throws {
        let error = try #require(throws: DecodingError.self) {
            try decode("local v = {} \(chunk) return v", as: Node.self)
        }
        #expect(Self.text(of: error).hasSuffix("nested too deep, or in a cycle"))
        let node = Node()
        node.next = node
        defer { node.next = nil }
        #expect(throws: EncodingError.self) { try LuaEncoder(state).encode(node) }
    }

    /// A model of 100,000 levels, each of which is made when it is asked for.
    private struct Chain: Encodable, CustomStringConvertible {
        let depth: Int
        let passesEncoder: Bool
        enum CodingKeys: CodingKey { case depth, next }

        // A value of such a depth cannot be printed.
        var description: String { fatalError("a chain is printed") }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(depth, forKey: .depth)
            guard depth > 0 else { return }
            let next = Chain(depth: depth - 1, passesEncoder: passesEncoder)
            if passesEncoder {
                try next.encode(to: container.superEncoder(forKey: .next))
            } else {
                try container.encode(next, forKey: .next)
            }
        }
    }

    @Test("a model of 100,000 levels ends with an error, which can be printed", arguments: [false, true])
    func chain(passesEncoder: Bool) throws {
        _ = try LuaEncoder(state).encode(Chain(depth: 50, passesEncoder: passesEncoder))
        let error = try #require(throws: EncodingError.self) {
            try LuaEncoder(state).encode(Chain(depth: 100_000, passesEncoder: passesEncoder))
        }
        #expect("\(error)".contains("nested too deep, or in a cycle"))
    }

    @Test("values pass alike for each depth up to the limit")
    func depth() throws {
        var node = Node()
        for _ in 0..<40 {
            let outer = Node()
            outer.next = node
            node = outer
        }
        var encoder = LuaEncoder(state)
        var decoder = LuaDecoder()
        encoder.maximumDepth = 41
        decoder.maximumDepth = 41
        _ = try decoder.decode(Node.self, from: encoder.encode(node))
        decoder.maximumDepth = 40
        let value = try encoder.encode(node)
        #expect(throws: DecodingError.self) { try decoder.decode(Node.self, from: value) }
        encoder.maximumDepth = 40
        #expect(throws: EncodingError.self) { try encoder.encode(node) }
    }

    @Test("without a depth, the thread's stack ends both ways with an error", arguments: [512, 1024])
    func stack(kilobytes: Int) async {
        await #expect(processExitsWith: .success) { [kilobytes] in
            OwnThread.run(stackSize: kilobytes << 10) {
                let conversion = LuaConversionLimits(depth: .max)
                guard let state = try? LuaState(limits: LuaLimits(conversion: conversion)) else { exit(2) }
                var encoder = LuaEncoder(state)
                var decoder = LuaDecoder()
                encoder.maximumDepth = .max
                decoder.maximumDepth = .max
                let node = Node()
                node.next = node
                node.nodes = [node]
                do {
                    _ = try encoder.encode(node)
                    exit(3)
                } catch {
                    guard "\(error)".contains("nested deeper than the thread's stack allows") else { exit(4) }
                }
                node.next = nil
                node.nodes = nil
                for chunk in ["v.next = v", "v.nodes = {v}"] {
                    do {
                        let value = try state.load("local v = {} \(chunk) return v".utf8, name: "=stack").call()
                        _ = try decoder.decode(Node.self, from: value.first ?? .nil)
                        exit(5)
                    } catch {
                        guard "\(error)".contains("nested deeper than the thread's stack allows") else { exit(6) }
                    }
                }
            }
        }
    }
}
