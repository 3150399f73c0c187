extension UnsafeRawBufferPointer {
    /// The number at an offset, which the caller has checked.
    @inlinable package func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
