import Application
import Files
import Images
import ItemArchive
import Items
import KeyedArchive

/// `cubby inspect CONTAINER`: its items and their archive.
struct ContainerInspection {
    private let container: ApplicationContainer
    private let layer: any FileLayer
    /// The path of the items' archive; nil if nothing was saved yet.
    let archive: String?

    static func isFolder(_ path: String) -> Bool {
        !path.isEmpty && path != "-" && PosixFileLayer().exists(PathText.join(path, "."))
    }

    /// - Throws: the exit status, after a message, for a folder that is no container.
    init(_ path: String) throws {
        container = ApplicationContainer(path: path)
        guard PosixFileLayer().exists(container.documents) || PosixFileLayer().exists(container.library) else {
            throw CommandFailure.exit(
                .usage,
                "\(path) is a folder and no container: --json-lines shows each of its files, --find finds a text in them, "
                    + "cubby timeline lists their dates")
        }
        do throws(FileError) { layer = try container.openExisting() } catch { throw CommandFailure.exit(error) }
        let persistence = ArchivePersistence(folder: container.documents, using: layer, isReadOnly: true)
        archive = layer.exists(persistence.path) ? persistence.path : nil
    }

    /// The lines before the archive's tree: how many items there are, and what is not in the archive yet.
    func heading() -> [TreeDrawing.Line] {
        var lines: [TreeDrawing.Line] = [[(.label, container.displayPath), (.guide, ": "), (.detail, "a container")]]
        let persistence = ArchivePersistence(folder: container.documents, using: layer, isReadOnly: true)
        var hasCommits = false
        do throws(StoreError) {
            let store = try ItemStore.open(persistence, schema: OwnFields.schema(of: container))
            let report = store.loadReport
            var text = store.count.counted("item")
            hasCommits = report.replayedRecords > 0
            if hasCommits {
                text +=
                    "; \(report.archivedItems.grouped) in the archive, the rest by "
                    + "\(report.replayedRecords.counted("commit")) of the journal"
            }
            lines.append([(.label, "items"), (.guide, ": "), (.detail, text)])
        } catch {
            lines.append([(.label, "items"), (.guide, ": "), (.error, error.message)])
        }
        lines.append(
            [(.label, "archive"), (.guide, ": ")]
                + (archive.map { [(.string, DisplayPath.abbreviate($0))] } ?? [(.detail, "none yet: nothing was saved")])
        )
        if hasCommits {
            lines.append(
                [(.label, "journal"), (.guide, ": "), (.string, DisplayPath.abbreviate(persistence.journalPath))])
        }
        return lines
    }
}
