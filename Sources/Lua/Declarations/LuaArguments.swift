/// The names of a function's arguments, in order, with or without documentation: `["from", "to"]`, or
/// `["from": "where it is", "to": "where it will be"]`. Their types are those of the function's closure.
public struct LuaArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    let names: [(name: String, documentation: String)]

    public init(arrayLiteral names: String...) { self.names = names.map { ($0, "") } }
    public init(dictionaryLiteral names: (String, String)...) {
        self.names = names.map { (name: $0.0, documentation: $0.1) }
    }
}
