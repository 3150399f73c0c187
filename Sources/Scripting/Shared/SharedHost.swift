package import Application
import PropertyList

/// Who a container is for the other hosts of shared collections.
package enum SharedHost {
    /// 16 bytes that the container keeps from run to run; made the first time.
    package static func identifier(of opened: OpenedContainer) -> [UInt8] {
        let defaults = Defaults(folder: opened.container.preferences, domain: "shared", using: opened.files)
        if case .data(let bytes)? = defaults.value(forKey: "host"), bytes.count == 16 { return bytes }
        var source = SystemRandomNumberGenerator()
        let bytes = withUnsafeBytes(of: (source.next(), source.next())) { Array($0) }
        // Where it cannot be kept, each run is another host.
        try? defaults.set(.data(bytes), forKey: "host")
        try? defaults.synchronize()
        return bytes
    }
}
