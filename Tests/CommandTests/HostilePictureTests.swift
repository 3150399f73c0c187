import Foundation
import TestSupport
import Testing

/// Pictures that lie, in a process that may not take more memory than an ordinary day's; and no libvips at all.
@Suite("Hostile pictures", .enabled(if: Program.isBuilt, "\(Project.cubbyIsAbsent)"))
struct HostilePictureTests {
    let program: Program

    init() throws { program = try Program() }

    /// Kilobytes of address space, of which libraries and threads have reserved most before the first picture.
    static let limit = 1_200_000

    /// A script that may read a folder, in so many kilobytes of address space.
    private func runLimited(_ script: String, on folder: String, to kilobytes: Int) throws -> ProcessOutput {
        let command = "ulimit -v \(kilobytes); exec \"$CUBBY\" --allow-read \"$1\" -e \"$2\" \"$1\""
        return try run(
            "/bin/bash", ["-c", command, "bash", folder, script], environment: program.environment)
    }

    @Test(
        "each is an error in words, strange ones come in, memory is bounded, and the host goes on",
        .enabled(if: PictureTests.hasPillow, "python3-pil is not installed"))
    func bounded() throws {
        let folder = program.scratch.file("hostile")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let made = try run(
            PictureTests.python, ["\(Project.root)/Tests/Judges/hostile_pictures.py", folder])
        try #require(made.status == .exited(0), "\(made.stderr)")
        let script = """
            images.pixelLimit = 40 * 1000 * 1000
            local folder, good, bad = ..., 0, 0
            for _, name in ipairs(fs.list(folder)) do
              local picture, err = image.open(folder .. "/" .. name)
              local done
              if picture then
                done, err = images:setImage(picture, name)
                local small, other = picture:resized(20, 20)
                assert((small ~= nil) == (done ~= nil), name .. ": " .. tostring(err or other))
                if done then assert(images:thumbnail(name, 40).width == 40) else assert(not images:image(name)) end
              end
              assert((done ~= nil) == (name:find("^good") ~= nil), name .. ": " .. tostring(err))
              if done then good = good + 1 else bad = bad + 1 assert(#err.message > 10 and err.code, name) end
            end
            print(good, bad, items:createItem{ name = "alive" }.name)
            """
        let output = try runLimited(script, on: folder, to: Self.limit)
        #expect(output.stdout == "8\t24\talive\n", "\(output.stderr)")

        // 16,000 by 16,000 pixels take 768 MB: more than there is.
        let large = """
            images.pixelLimit = 256 * 1000 * 1000
            print(assert(assert(image.open(... .. "/bad-bomb.png")):resized(40, 40)).width)
            """
        let small = try runLimited(large, on: folder, to: 700_000)
        #expect(small.stdout == "40\n", "\(small.stderr)")
    }

    @Test(
        "all of a large PNG file is never in memory",
        .enabled(if: PictureTests.hasPillow, "python3-pil is not installed"))
    func streamed() throws {
        let file = program.scratch.file("large.png")
        // Decoded it takes 360 MB.
        let maker = "import sys, PIL.Image as I; I.new('RGB', (12000, 10000)).save(sys.argv[1], compress_level=1)"
        let made = try run(PictureTests.python, ["-c", maker, file])
        try #require(made.status == .exited(0), "\(made.stderr)")
        let script = """
            local picture = assert(image.open((...)))
            assert(picture:resized(200, 200).height == 167)
            assert(images:setImage(picture, "large"))
            assert(images:thumbnail("large").width == 40)
            for line in io.lines("/proc/self/status") do
              local kilobytes = line:match("^VmHWM:%s+(%d+)")
              if kilobytes then print(tonumber(kilobytes) < 250000, kilobytes) end
            end
            """
        let output = try program("--allow-read", "/proc/self", "--allow-read", file, "-e", script, file)
        #expect(output.stdout.hasPrefix("true"), "\(output.stdout)\(output.stderr)")
    }

    @Test("without libvips JPEG files are kept and fetched, and anything else says in one line what to install")
    func withoutLibrary() throws {
        // What the loader finds first under the library's names is not a library; where it may not look it would go on.
        let folder = program.scratch.file("libraries")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["libvips.so.42", "libvips.so"] {
            try "".write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        let pictures = "\(Project.root)/examples/data/pictures"
        let script = """
            local folder = ...
            local picture = assert(image.open(folder .. "/teapot.jpg"))
            local item = items:createItem{ name = "Teapot" }
            item.image = picture
            images:clearCache()
            print(item.image.width, item.image.height, item.image.format)
            print(fs.read(images:imagePath(item.itemKey)) == fs.read(folder .. "/teapot.jpg"))
            local png = assert(image.open(folder .. "/lamp.png"))
            local calls = {
              function() return images:setImage(png, "lamp") end, function() return png:jpegData() end,
              function() return picture:resized(9, 9) end, function() return images:thumbnail(item.itemKey, 40) end,
            }
            for _, call in ipairs(calls) do
              local none, err = call()
              print(none, err.code, err.message:match("^this needs libvips %(on Debian: apt%-get install libvips42%)") ~= nil,
                err.message:find("\\n"))
            end
            print(png.exif)
            """
        var environment = program.environment
        environment["LD_LIBRARY_PATH"] = folder
        let output = try run(
            program.path, ["--allow-read", pictures, "--allow-read", folder, "-e", script, pictures],
            environment: environment)
        let refusal = "nil\tlibraryMissing\ttrue\tnil\n"
        #expect(
            output.stdout == "320\t240\tjpeg\ntrue\n" + String(repeating: refusal, count: 4) + "nil\n",
            "\(output.stderr)")
        #expect(output.stderr.contains("this needs libvips"))
        // A gallery tells each picture that it leaves out.
        let gallery = try run(
            program.path, ["gallery", "--allow-read", folder, program.scratch.file("page")], environment: environment)
        #expect(gallery.status == .exited(0) && gallery.stderr.contains("this needs libvips"))
    }
}
