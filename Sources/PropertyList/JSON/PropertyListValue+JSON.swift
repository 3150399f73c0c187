import CPlatform
import FoundationEssentials

/// JSON in and out, by Foundation's coders.
extension PropertyListValue {
    /// A value on its way through the coders.
    private struct JSON: Codable {
        var value: PropertyListValue

        init(_ value: PropertyListValue) { self.value = value }

        /// The coders recurse, as deep as the text or the value is.
        struct TooDeep: Error, CustomStringConvertible {
            var description: String { "the values nest deeper than the thread's stack allows" }
        }

        init(from decoder: any Decoder) throws {
            guard cubby_stack_is_short() == 0 else { throw TooDeep() }
            let container = try decoder.singleValueContainer()
            // Each kind that it is not costs an error: the commonest come first.
            if let text = try? container.decode(String.self) {
                value = .string(text)
            } else if let number = try? container.decode(Int64.self) {
                value = .integer(number)
            } else if let number = try? container.decode(Double.self) {
                value = .real(number)
            } else if container.decodeNil() {
                value = .null
            } else if let flag = try? container.decode(Bool.self) {
                value = .boolean(flag)
            } else {
                do {
                    value = .array(try container.decode([JSON].self).map(\.value))
                } catch let error as TooDeep {
                    throw error
                } catch {
                    value = .dictionary(try container.decode([String: JSON].self).mapValues(\.value))
                }
            }
        }

        func encode(to encoder: any Encoder) throws {
            guard cubby_stack_is_short() == 0 else { throw TooDeep() }
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .boolean(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .uid(let value): try container.encode(Int64(value))
            case .wideInteger(let value): try container.encode(Double(value))
            case .real(let value): try container.encode(value)
            case .single(let value): try container.encode(Double(value))
            case .date(let date): try container.encode(date.iso8601Text ?? date.text)
            case .data(let bytes): try container.encode(Data(bytes).base64EncodedString())
            case .string(let text): try container.encode(text)
            case .array(let elements), .set(let elements): try container.encode(elements.map(JSON.init))
            case .dictionary(let entries): try container.encode(entries.mapValues(JSON.init))
            }
        }
    }

    /// The value of a JSON text.
    ///
    /// - Throws: ``JSONError``.
    public init(json bytes: [UInt8]) throws(JSONError) {
        if JSONCommas.hasTrailing(bytes) { throw JSONError(in: bytes, reason: "a comma stands before an end") }
        do {
            self = try JSONDecoder().decode(JSON.self, from: Data(bytes)).value
        } catch DecodingError.dataCorrupted(let context) {
            let reason = context.underlyingError.map { "\($0)" } ?? context.debugDescription
            throw JSONError(in: bytes, reason: reason)
        } catch let error as JSON.TooDeep {
            throw JSONError(message: error.description)
        } catch {
            throw JSONError(in: bytes, reason: "the text says no value that it could stand for")
        }
    }

    /// The value as JSON: dates in ISO 8601, data in Base64, keys sorted.
    ///
    /// - Throws: ``JSONError`` for numbers that JSON does not have.
    public func json(isPretty: Bool = false) throws(JSONError) -> [UInt8] {
        if let number = firstWithoutJSON { throw JSONError(message: "JSON has no \(number)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        do { return Array(try encoder.encode(JSON(self))) } catch { throw JSONError(message: "\(error)") }
    }

    /// The first number in the value that is infinite or none.
    private var firstWithoutJSON: Double? {
        switch self {
        case .real(let number): number.isFinite ? nil : number
        case .single(let number): number.isFinite ? nil : Double(number)
        case .array(let elements), .set(let elements): elements.lazy.compactMap(\.firstWithoutJSON).first
        case .dictionary(let entries): entries.values.lazy.compactMap(\.firstWithoutJSON).first
        default: nil
        }
    }
}
