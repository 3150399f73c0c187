extension UnsafeRawBufferPointer {
    /// Loads a number at an offset. The caller has checked the bounds.
    @inlinable package func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type, at offset: Int
    ) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
