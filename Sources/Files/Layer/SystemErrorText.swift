import CPlatform

/// The system's text of an error number.
package enum SystemErrorText {
    /// Returns the text for `code`, such as "No space left on device".
    package static func describe(_ code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress else { return "error \(code)" }
            cubby_error_text(code, base, buffer.count)
            return String(cString: base)
        }
    }
}
