import Foundation

/// Reads a keyed archive with Foundation's own unarchiver and prints what it found. A program of its own, because that
/// unarchiver aborts the process, or runs out of stack, on archives that it does not like.
@main
enum FoundationJudge {
    static func main() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        guard let root = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey), unarchiver.error == nil else {
            print("error: \(String(describing: unarchiver.error))")
            exit(65)
        }
        print(describe(root))
    }

    private static func describe(_ value: Any) -> String {
        switch value {
        case let number as NSNumber: "\(number)"
        case let text as String: "\"\(text)\""
        case let data as Data: "<\(data.map { String($0, radix: 16) }.joined(separator: " "))>"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let array as [Any]: "[\(array.map(describe).joined(separator: ", "))]"
        case let set as Set<AnyHashable>: "{\(set.map { describe($0.base) }.sorted().joined(separator: ", "))}"
        case let entries as [AnyHashable: Any]:
            "[\(entries.map { "\(describe($0.key.base)): \(describe($0.value))" }.sorted().joined(separator: ", "))]"
        case let object as NSObject: "\(type(of: object)) \(object.description.replacing(/0x[0-9a-f]+/, with: ""))"
        default: "\(value)"
        }
    }
}
