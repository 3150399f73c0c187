extension Array where Element == UInt8 {
    /// `withUnsafeBytes` that preserves the type of the error, which the standard library's form for arrays loses.
    ///
    /// - Parameter body: reads the bytes, which are valid until it returns.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func withUnsafeBytesThrowing<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let outcome: Result<Value, Failure> = withUnsafeBytes { buffer in
            do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
