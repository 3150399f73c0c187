import Testing

@testable import REPL

@Suite("The program of $PAGER") struct ExternalPagerTests {
    @Test(
        "is started by a shell only where its command needs one",
        arguments: [
            ("less", ["less"]), ("less -S +G", ["less", "-S", "+G"]), ("/usr/bin/more", ["/usr/bin/more"]),
            ("LESS=R less", ["/bin/sh", "-c", "LESS=R less"]), ("cat | less", ["/bin/sh", "-c", "cat | less"]),
            ("my\\ pager", ["/bin/sh", "-c", "my\\ pager"]), (" ", ["/bin/sh", "-c", " "]),
        ])
    func words(command: String, words: [String]) { #expect(ExternalPager(command).words == words) }
}
