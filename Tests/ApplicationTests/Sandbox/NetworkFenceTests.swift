import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Application

@Suite("The network's fence")
struct NetworkFenceTests {
    @Test(
        "a grant is a host and a port, in one spelling",
        arguments: [
            ("example.org", "example.org"), ("EXAMPLE.org.", "example.org"), ("example.org:8443", "example.org:8443"),
            ("127.0.0.1:80", "127.0.0.1:80"), ("[::1]", "[::1]"), ("[0:0:0:0:0:0:0:1]:8080", "[::1]:8080"),
            ("::1", "[::1]"), ("[::FFFF:10.0.0.1]:5", "10.0.0.1:5"), ("a_b.example:1", "a_b.example:1"),
        ])
    func grants(text: String, description: String) throws {
        #expect(try NetworkGrant(text).description == description)
    }

    @Test(
        "what is no host with a port is refused, with its reason",
        arguments: [
            ("", "neither"), ("https://example.org", "not a URL"), ("example.org/x", "not a URL"),
            ("*.example.org", "patterns"),
            ("example.org:0", "1 to 65535"), ("example.org:65536", "1 to 65535"), ("example.org:http", "1 to 65535"),
            ("example.org:", "1 to 65535"), ("fe80::1%eth0", "brackets"), ("[fe80::1%eth0]", "without a zone"),
            ("[::1", "not closed"),
            ("[::1]x", "colon"), ("127.1", "neither"), ("0x7f.0.0.1", "neither"), ("1.2.3.0x4", "neither"),
            ("2130706433", "neither"),
            ("a..b", "neither"), ("a b", "neither"), ("bücher.example", "ASCII"), ("[example.org]:80", "IPv6"),
        ])
    func refusals(text: String, reason: String) {
        let error = #expect(throws: NetworkGrantError.self) { try NetworkGrant(text) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("a host alone is ports 80 and 443") func usualPorts() throws {
        let fence = NetworkFence([try NetworkGrant("example.org"), try NetworkGrant("other.example:8443")])
        for (host, port, isPermitted) in [
            ("example.org", 80, true), ("example.org", 443, true), ("Example.ORG.", 443, true),
            ("example.org", 8080, false),
            ("sub.example.org", 443, false), ("other.example", 443, false), ("other.example", 8443, true),
        ] {
            #expect(fence.permits(NetworkEndpoint(host: host, port: port)) == isPermitted, "\(host):\(port)")
        }
        #expect(fence.ports == [80, 443, 8443])
        let error = #expect(throws: NetworkDenial.self) { try fence.check(NetworkEndpoint(host: "::1", port: 5)) }
        #expect(error?.description.contains("--allow-net [::1]:5 grants it, or cubby config grant net [::1]:5") == true)
    }

    @Test(
        "addresses that are not of the public network",
        arguments: [
            "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12:3456::1",
            "ff02::1",
            "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "2002:7f00:1::", "::127.0.0.1",
        ])
    func localAddresses(text: String) throws {
        #expect(try #require(NetworkAddress(text)).locality != nil)
    }

    @Test(
        "addresses of the public network",
        arguments: ["8.8.8.8", "172.32.0.1", "172.15.0.1", "100.128.0.1", "2001:4860:4860::8888", "64:ff9b::8.8.8.8"])
    func publicAddresses(text: String) throws {
        #expect(try #require(NetworkAddress(text)).locality == nil)
    }

    @Test("a name reaches no address that is not granted itself, whatever it resolves to") func rebinding() throws {
        let fence = NetworkFence([try NetworkGrant("example.org:80"), try NetworkGrant("localhost:80")])
        let target = NetworkEndpoint(host: "example.org", port: 80)
        try fence.check(#require(NetworkAddress("93.184.216.34")), of: target)
        for text in ["127.0.0.1", "169.254.169.254", "192.168.0.1", "::1"] {
            let address = try #require(NetworkAddress(text))
            let error = #expect(throws: NetworkDenial.self) { try fence.check(address, of: target) }
            let grant = "\(NetworkEndpoint(host: text, port: 80))"
            #expect(
                error?.description.contains("--allow-net \(grant) grants it") == true, "\(error?.description ?? "")")
        }
        try fence.check(#require(NetworkAddress("127.0.0.1")), of: NetworkEndpoint(host: "localhost", port: 80))
        try fence.check(#require(NetworkAddress("::1")), of: NetworkEndpoint(host: "localhost", port: 80))
        #expect(throws: NetworkDenial.self) {
            try fence.check(#require(NetworkAddress("10.0.0.1")), of: NetworkEndpoint(host: "localhost", port: 80))
        }
        fence.grant(try NetworkGrant("192.168.0.1:80"))
        try fence.check(#require(NetworkAddress("192.168.0.1")), of: target)
    }

    @Test("a socket's address is parsed, and a short one is none") func sockets() {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = UInt16(8080).bigEndian
        four.sin_addr.s_addr = UInt32(0x0A00_0001).bigEndian
        let parsed = NetworkAddress.parse(&four, count: MemoryLayout<sockaddr_in>.size)
        #expect(parsed?.address.description == "10.0.0.1" && parsed?.port == 8080)
        #expect(NetworkAddress.parse(&four, count: 4) == nil)
        four.sin_family = sa_family_t(AF_UNIX)
        #expect(NetworkAddress.parse(&four, count: MemoryLayout<sockaddr_in>.size) == nil)
    }

    @Test(
        "the kernel holds the ports of a program, and of those that it starts",
        .enabled(if: (Landlock.abi ?? 0) >= Landlock.networkABI, "needs Landlock ABI 4"))
    func programs() throws {
        let server = try LoopbackServer { _, client in LoopbackServer.send("", to: client) }
        defer { server.stop() }
        // In a process that it forks, too.
        let script = "(exec 3<>/dev/tcp/127.0.0.1/\(server.port)) 2>/dev/null && echo in || echo out"
        func said(_ ports: Set<Int>?) throws -> String {
            let scratch = try TemporaryDirectory()
            let output = open(scratch.file("output"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(output) }
            _ = try ChildProcess(["/bin/bash", "-c", script], ports: ports, output: output).end()
            return String(decoding: try scratch.read("output"), as: UTF8.self)
        }
        #expect(try said(nil) == "in\n")
        #expect(try said([server.port]) == "in\n")
        #expect(try said([]) == "out\n")
        #expect(try said([80, 443]) == "out\n")
    }
}
