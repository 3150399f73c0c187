import Foundation

/// The scripts of `Tests/Hostile/nestings.lua`, which nest without end, as one script for a host.
package enum Nestings {
    /// How many there are.
    package static let count = lines.count

    private static let lines =
        ((try? String(contentsOfFile: "\(Project.root)/Tests/Hostile/nestings.lua", encoding: .utf8)) ?? "")
        .split(separator: "\n").filter { !$0.hasPrefix("-- ") }

    /// Runs each, prints those that did not end with the error that they should, and at last how many there were.
    package static let script = """
        items:createItem{ name = "x" }
        local count = 0
        for line in ([====[\(lines.joined(separator: "\n"))]====]):gmatch("[^\\n]+") do
          count = count + 1
          local ok, err = pcall(assert(load(line)))
          err = tostring(err)
          if ok or not (err:find("stack overflow", 1, true) or err:find("nested", 1, true) or err:find("deep", 1, true)) then
            print("line " .. count, ok, err:sub(1, 200), line)
          end
        end
        print(count .. " ended")
        """
}
