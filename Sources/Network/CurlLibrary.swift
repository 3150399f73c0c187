import Application
import CNetwork
import Wording

/// libcurl, loaded.
package struct CurlLibrary: @unchecked Sendable {
    // The table is static, and filled once before anybody gets it.
    let table: UnsafePointer<cnetwork_library>

    /// Loads the library.
    ///
    /// - Throws: `HTTPError` with the package that is missing.
    package init() throws(HTTPError) {
        var reason: UnsafePointer<CChar>?
        guard let table = cnetwork_library(&reason) else {
            let text = reason.map { String(cString: $0) } ?? ""
            throw HTTPError(.libraryMissing, "http needs libcurl (apt-get install libcurl4): \(text)")
        }
        self.table = table
    }

    /// Its version and those of its parts: `libcurl/7.88.1 OpenSSL/3.0.15 …`.
    package var version: String { String(cString: table.pointee.curl_version()) }
}

/// The address of a request, read as the library reads it, so that the fence checks what is connected to.
struct HTTPAddress: Sendable, Hashable {
    /// In one form, without its fragment.
    let text: String
    let endpoint: NetworkEndpoint
    let isSecure: Bool

    /// - Throws: `HTTPError` for an address that is not one of HTTP.
    init(_ text: String, _ library: CurlLibrary) throws(HTTPError) {
        let curl = library.table.pointee
        let shown = VisibleText.line(String(text.prefix(200)))
        func refuse(_ code: HTTPError.Code, _ reason: String) -> HTTPError { HTTPError(code, "'\(shown)': \(reason)") }
        guard text.utf8.count <= 1 << 16, !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw refuse(.badURL, "a URL has no spaces and control characters (write %20), and at most 64 KB")
        }
        guard let url = curl.curl_url() else { throw refuse(.unknown, "out of memory") }
        defer { curl.curl_url_cleanup(url) }
        guard curl.curl_url_set(url, Int32(CNETWORK_PART_URL), text, UInt32(CNETWORK_URL_ENCODE)) == 0
        else { throw refuse(.badURL, "it is not a URL as https://example.org/path") }
        func part(_ part: Int32, _ flags: UInt32 = 0) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl.curl_url_get(url, part, &value, flags) == 0, let value else { return nil }
            defer { curl.curl_free(value) }
            return String(cString: value)
        }
        let scheme = part(Int32(CNETWORK_PART_SCHEME))
        guard scheme == "https" || scheme == "http" else {
            throw refuse(.unsupportedURL, "only https and http are spoken")
        }
        isSecure = scheme == "https"
        if part(Int32(CNETWORK_PART_ZONE)) != nil { throw refuse(.badURL, "addresses with a zone are not granted") }
        let portText = part(Int32(CNETWORK_PART_PORT), UInt32(CNETWORK_DEFAULT_PORT))
        let host =
            part(Int32(CNETWORK_PART_HOST), UInt32(CNETWORK_PUNYCODE))
            ?? part(Int32(CNETWORK_PART_HOST))
        guard let host, !host.utf8.isEmpty, let port = portText.flatMap({ Int($0) }), (1...65535).contains(port) else {
            throw refuse(.badURL, "it has no host, or no port from 1 to 65535")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw refuse(.badURL, "write the host's name in ASCII, as its certificate has it (xn--…)")
        }
        endpoint = NetworkEndpoint(host: host, port: port)
        _ = curl.curl_url_set(url, Int32(CNETWORK_PART_FRAGMENT), nil, 0)
        guard let whole = part(Int32(CNETWORK_PART_URL)) else { throw refuse(.badURL, "it is not a URL") }
        self.text = whole
    }
}

/// A proxy that the environment names, as other programs take it.
struct HTTPProxy: Sendable {
    /// For the library: `http://proxy.example:3128`, with a name and a password if they are there.
    let text: String
    let endpoint: NetworkEndpoint

    /// What the environment names for an address; nil for nothing.
    static func named(for address: HTTPAddress) -> String? {
        // In capital letters HTTP_PROXY could be a header of a CGI's client.
        let names = (address.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.lazy.compactMap { ProcessEnvironment.value($0) }.first { !$0.isEmpty }
    }

    /// The proxy for an address; nil for none, and for one of another kind than HTTP's. Which hosts are reached without it
    /// (`no_proxy`) the library knows.
    init?(for address: HTTPAddress, _ library: CurlLibrary) {
        guard let found = Self.named(for: address) else { return nil }
        let text = found.contains("://") ? found : "http://" + found
        guard let proxy = try? HTTPAddress(text, library) else { return nil }
        // Without a port the library takes 1080 for a proxy.
        (self.text, endpoint) = (
            "\(proxy.isSecure ? "https" : "http")://" + Self.authority(proxy.text, proxy), proxy.endpoint
        )
    }

    private static func authority(_ text: String, _ proxy: HTTPAddress) -> String {
        let rest = text.dropFirst(proxy.isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" }
        let account = authority.lastIndex(of: "@").map { authority[...$0] } ?? ""
        return account + "\(proxy.endpoint)"
    }
}
