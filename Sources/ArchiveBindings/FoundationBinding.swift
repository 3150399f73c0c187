import KeyedArchive
import Lua
import Scripting

/// Foundation's small value classes in Lua: their fields by name; nil for another class's field.
enum FoundationBinding {
    static func makeClass(_ values: ValueBridge) -> LuaClass<FoundationBox> {
        let cls = LuaClass<FoundationBox>(
            FoundationBox.luaName,
            doc:
                "A Foundation value in an archive: a URL, a UUID, a range, a point, size or rectangle, an index set or path, "
                + "a time zone, a locale, a regular expression, a decimal number. Compared by content.",
            in: values.state, kind: .box)
        cls.text("className", doc: "Its class name, such as `NSURL`.", get: { $0.className })
        numbers(cls)
        texts(cls)
        func part<Value: LuaRepresentable>(
            _ name: String, _ documentation: String, _ get: @escaping (FoundationValue) -> Value?
        ) {
            cls.property(name, doc: documentation, get: { $0.foundation.flatMap(get) })
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
            "number", doc: "A decimal number's nearest float; nil for other classes.",
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
        let reals = [
            ("x", "The x coordinate of a point or rectangle."), ("y", "The y coordinate of a point or rectangle."),
            ("width", "The width of a size or rectangle."), ("height", "The height of a size or rectangle."),
            ("top", "The top inset."), ("left", "The left inset."), ("bottom", "The bottom inset."),
            ("right", "The right inset."),
        ]
        for (name, doc) in reals {
            cls.property(name, doc: doc, get: { $0.foundation.flatMap { real(name, of: $0) } })
        }
        let integers = [
            ("location", "The start of a range."), ("length", "The length of a range."),
            ("options", "The options of a regular expression."),
        ]
        for (name, doc) in integers {
            cls.property(name, doc: doc, get: { $0.foundation.flatMap { integer(name, of: $0) } })
        }
    }

    private static func real(_ name: String, of value: FoundationValue) -> Double? {
        switch (name, value) {
        case ("x", .point(let x, _)), ("x", .rect(let x, _, _, _)): x
        case ("y", .point(_, let y)), ("y", .rect(_, let y, _, _)): y
        case ("width", .size(let width, _)), ("width", .rect(_, _, let width, _)): width
        case ("height", .size(_, let height)), ("height", .rect(_, _, _, let height)): height
        case ("top", .edgeInsets(let inset, _, _, _)), ("left", .edgeInsets(_, let inset, _, _)),
            ("bottom", .edgeInsets(_, _, let inset, _)), ("right", .edgeInsets(_, _, _, let inset)):
            inset
        default: nil
        }
    }

    private static func integer(_ name: String, of value: FoundationValue) -> Int64? {
        switch (name, value) {
        case ("location", .range(let number, _)), ("length", .range(_, let number)),
            ("options", .regularExpression(_, let number)):
            number
        default: nil
        }
    }

    private static func texts(_ cls: LuaClass<FoundationBox>) {
        let texts = [
            ("relative", "A URL's text, without its base."), ("name", "A time zone's name."),
            ("identifier", "A locale's identifier."), ("pattern", "The pattern of a regular expression."),
        ]
        for (name, doc) in texts {
            cls.property(name, doc: doc, get: { $0.foundation.flatMap { part(name, of: $0) } })
        }
    }

    private static func part(_ name: String, of value: FoundationValue) -> String? {
        switch (name, value) {
        case ("relative", .url(let text, _)), ("name", .timeZone(let text, _)), ("identifier", .locale(let text)),
            ("pattern", .regularExpression(let text, _)):
            text
        default: nil
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
