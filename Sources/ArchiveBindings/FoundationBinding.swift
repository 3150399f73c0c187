import KeyedArchive
import Lua
import Scripting

/// Foundation's small value classes in Lua: their fields by name; nil for another class's field.
enum FoundationBinding {
    static func makeClass(_ values: ValueBridge) -> LuaClass<FoundationBox> {
        let cls = LuaClass<FoundationBox>(
            FoundationBox.luaName,
            "A Foundation value in an archive: a URL, a UUID, a range, a point, size or rectangle, an index set or path, "
                + "a time zone, a locale, a regular expression, a decimal number. Compared by content.",
            in: values.state, kind: .box)
        cls.text("className", "Its class name, such as `NSURL`.", get: { $0.className })
        numbers(cls)
        texts(cls)
        func part<Value: LuaRepresentable>(
            _ name: String, _ documentation: String, _ get: @escaping (FoundationValue) -> Value?
        ) {
            cls.property(name, documentation, get: { $0.foundation.flatMap(get) })
        }
        part("base", "The base of a relative URL.") { value -> FoundationBox? in
            if case .url(_, let base?) = value { FoundationBox(.value(base)) } else { nil }
        }
        part("origin", "A rectangle's origin, a point.") { value -> FoundationBox? in
            if case .rect(let x, let y, _, _) = value { FoundationBox(.value(.point(x: x, y: y))) } else { nil }
        }
        part("size", "A rectangle's size.") { value -> FoundationBox? in
            guard case .rect(_, _, let width, let height) = value else { return nil }
            return FoundationBox(.value(.size(width: width, height: height)))
        }
        part("indexes", "The numbers of an index path.") { value -> [Int64]? in
            if case .indexPath(let indexes) = value { indexes } else { nil }
        }
        part("ranges", "The ranges of an index set, in order.") { value -> [FoundationBox]? in
            guard case .indexSet(let ranges, _) = value else { return nil }
            return ranges.map {
                FoundationBox(.value(.range(location: $0.lowerBound, length: Int64($0.count))))
            }
        }
        part("matrix", "An affine transform's six numbers.") { value -> [Double]? in
            if case .affineTransform(let numbers) = value { numbers.map { Double($0) } } else { nil }
        }
        part("data", "A time zone's file.") { value -> DataValue? in
            if case .timeZone(_, let bytes) = value { DataValue(bytes) } else { nil }
        }
        cls.method(
            "number", [], "A decimal number's nearest float; nil for other classes.",
            example: "return archiver.decimal(\"12.50\"):number()"
        ) { box -> Double? in
            guard case .decimal(let decimal) = box.foundation else { return nil }
            return Double(decimal.description) ?? .nan
        }
        cls.metamethod("__tostring") { box, call in call.returns(text(box)) }
        cls.rawMetamethod("__eq") { call in
            let (a, b) = (call.optionalObject(0, cls)?.foundation, call.optionalObject(1, cls)?.foundation)
            return call.returns(a != nil && a == b)
        }
        cls.rawMetamethod("__concat") { call in
            call.returns(LuaString(call.allValues.prefix(2).flatMap { call.state.describe($0).bytes }))
        }
        return cls
    }

    private static func numbers(_ cls: LuaClass<FoundationBox>) {
        let reals: [(String, String, (FoundationValue) -> Double?)] = [
            (
                "x", "The x coordinate of a point or rectangle.",
                { value in
                    switch value {
                    case .point(let x, _), .rect(let x, _, _, _): x
                    default: nil
                    }
                }
            ),
            (
                "y", "The y coordinate of a point or rectangle.",
                { value in
                    switch value {
                    case .point(_, let y), .rect(_, let y, _, _): y
                    default: nil
                    }
                }
            ),
            (
                "width", "The width of a size or rectangle.",
                { value in
                    switch value {
                    case .size(let width, _), .rect(_, _, let width, _): width
                    default: nil
                    }
                }
            ),
            (
                "height", "The height of a size or rectangle.",
                { value in
                    switch value {
                    case .size(_, let height), .rect(_, _, _, let height): height
                    default: nil
                    }
                }
            ),
            ("top", "The top inset.", { if case .edgeInsets(let top, _, _, _) = $0 { top } else { nil } }),
            ("left", "The left inset.", { if case .edgeInsets(_, let left, _, _) = $0 { left } else { nil } }),
            ("bottom", "The bottom inset.", { if case .edgeInsets(_, _, let bottom, _) = $0 { bottom } else { nil } }),
            ("right", "The right inset.", { if case .edgeInsets(_, _, _, let right) = $0 { right } else { nil } }),
        ]
        for (name, documentation, get) in reals {
            cls.property(name, documentation, get: { $0.foundation.flatMap(get) })
        }
        let integers: [(String, String, (FoundationValue) -> Int64?)] = [
            ("location", "The start of a range.", { if case .range(let location, _) = $0 { location } else { nil } }),
            ("length", "The length of a range.", { if case .range(_, let length) = $0 { length } else { nil } }),
            (
                "options", "The options of a regular expression.",
                { value in
                    if case .regularExpression(_, let options) = value { options } else { nil }
                }
            ),
        ]
        for (name, documentation, get) in integers {
            cls.property(name, documentation, get: { $0.foundation.flatMap(get) })
        }
    }

    private static func texts(_ cls: LuaClass<FoundationBox>) {
        let texts: [(String, String, (FoundationValue) -> String?)] = [
            ("relative", "A URL's text, without its base.", { if case .url(let text, _) = $0 { text } else { nil } }),
            ("name", "A time zone's name.", { if case .timeZone(let name, _) = $0 { name } else { nil } }),
            ("identifier", "A locale's identifier.", { if case .locale(let name) = $0 { name } else { nil } }),
            (
                "pattern", "The pattern of a regular expression.",
                { value in
                    if case .regularExpression(let pattern, _) = value { pattern } else { nil }
                }
            ),
        ]
        for (name, documentation, get) in texts {
            cls.property(name, documentation, get: { $0.foundation.flatMap(get) })
        }
    }

    // MARK: Text

    private static func text(_ box: FoundationBox) -> String {
        guard let value = box.foundation else { return "(\(box.className))" }
        guard case .indexSet(let ranges, _) = value else { return LeafText.plain(value, number: short) }
        let parts = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound - 1)" }
        return "\(box.className)(\(parts.joined(separator: ", ")))"
    }

    private static func short(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? String(value)
    }
}

/// An archived value without a Lua counterpart: a URL, a range, an index path.
final class FoundationBox {
    /// Nil only for a nil key.
    let value: ArchiveValue?

    init(_ value: ArchiveValue?) { self.value = value }

    var foundation: FoundationValue? { if case .value(let value)? = value { value } else { nil } }
    var className: String { value?.className ?? "nil" }
}

extension FoundationBox: LuaInstance { static let luaName = "FoundationValue" }
