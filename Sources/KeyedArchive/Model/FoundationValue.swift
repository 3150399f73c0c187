/// The values of Foundation's small immutable classes without references.
public indirect enum FoundationValue: Sendable, Hashable {
    /// NSUUID: sixteen bytes.
    case uuid([UInt8])
    /// NSURL: its text, relative to `base` if there is one.
    case url(String, base: FoundationValue?)
    /// NSValue of a point.
    case point(x: Double, y: Double)
    /// NSValue of a size.
    case size(width: Double, height: Double)
    /// NSValue of a rectangle.
    case rect(x: Double, y: Double, width: Double, height: Double)
    /// NSValue of a range.
    case range(location: Int64, length: Int64)
    /// NSValue of edge insets.
    case edgeInsets(top: Double, left: Double, bottom: Double, right: Double)
    /// NSIndexSet: ranges in ascending order.
    case indexSet([Range<Int64>], isMutable: Bool)
    /// NSIndexPath.
    case indexPath([Int64])
    /// NSTimeZone: its name and the bytes of its zone file.
    case timeZone(name: String, data: [UInt8])
    /// NSLocale, by identifier.
    case locale(String)
    /// NSRegularExpression.
    case regularExpression(pattern: String, options: Int64)
    /// NSAffineTransform: m11, m12, m21, m22, tX, tY.
    case affineTransform([Float])
    /// NSDecimalNumber.
    case decimal(ArchivedDecimal)

    /// The value's class in an archive.
    public var archivedClass: ArchivedClass {
        switch self {
        case .uuid: ArchivedClass("NSUUID")
        case .url: ArchivedClass("NSURL")
        case .point, .size, .rect, .range, .edgeInsets: ArchivedClass("NSValue")
        case .indexSet(_, let isMutable):
            isMutable
                ? ArchivedClass("NSMutableIndexSet", superclasses: ["NSIndexSet", "NSObject"])
                : ArchivedClass("NSIndexSet")
        case .indexPath: ArchivedClass("NSIndexPath")
        case .timeZone: ArchivedClass("NSTimeZone")
        case .locale: ArchivedClass("NSLocale")
        case .regularExpression: ArchivedClass("NSRegularExpression")
        case .affineTransform: ArchivedClass("NSAffineTransform")
        case .decimal: ArchivedClass("NSDecimalNumber", superclasses: ["NSNumber", "NSValue", "NSObject"])
        }
    }
}
