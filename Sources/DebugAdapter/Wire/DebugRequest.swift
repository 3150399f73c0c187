import PropertyList

/// A request of a client.
package struct DebugRequest: Sendable {
    /// The sequence number, repeated in the response.
    let sequence: Int
    let command: String
    var arguments: JSONValue

    /// Reads a message.
    ///
    /// - Returns: nil if the message is not a request.
    init?(_ content: [UInt8]) throws(MessageDecoder.Problem) {
        let message: JSONValue
        do throws(JSONError) { message = try JSONValue(json: content) } catch { throw .badContent(error.message) }
        guard let type = message["type"]?.text else { throw .badContent("it has no type") }
        guard type == "request" else { return nil }
        guard let sequence = message["seq"]?.number, let command = message["command"]?.text else {
            throw .badContent("it has no number or no command")
        }
        self.sequence = sequence
        self.command = command
        arguments = message["arguments"] ?? .object([:])
    }

    /// The message, for relaying to a host.
    var message: JSONValue {
        .object([
            "type": .string("request"), "seq": .number(sequence), "command": .string(command), "arguments": arguments,
        ])
    }
}

/// The reason why a request is refused.
struct DebugRefusal: Error {
    let message: String

    init(_ message: String) { self.message = message }
}
