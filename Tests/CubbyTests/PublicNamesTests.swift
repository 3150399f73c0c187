import Cubby
import Foundation
import Lua
import TestSupport
import Testing

/// A program that imports Foundation and `Lua` beside `Cubby` can use each public type by its plain name: a name that
/// both have does not compile here. The coders of property lists alone are named with their module.
@Suite("Public names beside Foundation's") struct PublicNamesTests {
    static let cubby: [Any.Type] = [CubbyVersion.self]

    // Application
    static let application: [Any.Type] = [
        ApplicationBundle.self, ApplicationEvent.self, ApplicationNotification.self,
        ApplicationNotificationCenter.self, ApplicationState.self, ApplicationContainer.self,
        Defaults.self,
        DefaultsError.self, ProcessEnvironment.self, EventLoop.self, EventNotifier.self,
        FenceAccess.self, FencedFileLayer.self, LifeCycleCause.self,
        LoopTimer.self, LoopWatch.self, MemoryContainer.self, NotificationToken.self,
        OpenedContainer.self,
        PathFence.self, ProgramGrant.self, ReadyEvents.self, SignalMask.self, StandardErrorLogHandler.self,
    ]

    // CSV
    static let csv: [Any.Type] = [
        CSVError.self, CSVOptions.self, CSVPushReader.self, CSVReader.self, CSVRow.self,
        CSVRowSequence<AsyncStream<UInt8>>.self, CSVWriter.self,
    ]

    // Files
    static let files: [Any.Type] = [
        FileAccess.self,
        FileError.self,
        (any FileLayer).self, FileStatus.self, FolderLock.self,
        FolderLockError.self, LockHolder.self, MappedFile.self, OpenFile.self,
        (any PathLayer).self, PosixFileLayer.self, ProcessName.self,
    ]

    // Gallery
    static let gallery: [Any.Type] = [WebGallery.self]

    // Images
    static let images: [Any.Type] = [
        BitmapImage.self, ImageError.self, ImageFormat.self, ImageLimits.self, ImageMetadata.self, ImagePixels.self,
        ImageSizing.self, ImageStore.self,
    ]

    // KeyedArchive
    static let keyedArchive: [Any.Type] = [
        AllowedClasses.self, ArchiveCheck.self, ArchiveError.self, ArchiveGraph.self,
        ArchiveKey.self, ArchiveLimits.self, ArchiveRecord.self, ArchiveReferences.self, ArchiveRescue.self,
        ArchiveScalar.self, ArchiveShape.self, ArchiveTree.self, ArchiveValue.self, ArchivedClass.self,
        ArchivedCollection.self, ArchivedDecimal.self, ArchivedDictionary.self, ArchivedMutableData.self,
        ArchivedMutableString.self, ArchivedObject.self, FoundationValue.self, KeyedArchiveReader.self,
        KeyedArchiver.self, (any KeyedCoding).self, KeyedCopier.self, (any KeyedCopying).self,
        (any KeyedEncodable).self, KeyedUnarchiver.self, TreeDifference.self, TreePath.self, TreeValue.self,
    ]

    // Lua
    static let lua: [Any.Type] = [
        LuaArgument.self, LuaArguments.self, LuaAsyncFunction.self, LuaCall.self, LuaCallback<Int, Int>.self,
        LuaChunk.self, LuaClassDeclaration.self, LuaDeclaration.self, LuaDeclarations.self, LuaDecoder.self,
        LuaEncoder.self,
        LuaEngine.self, LuaEnvironment.self, LuaError.self, LuaFields.self,
        LuaErrorCode.self,
        (any LuaErrorDetails).self,
        LuaFrame.self, LuaFunction.self, LuaFunctionDeclaration.self, LuaFunctionPlace.self, LuaInterrupter.self,
        LuaConversionLimits.self, LuaLibraries.self, LuaLimits.self, LuaLocal.self, LuaMembers<Probe>.self,
        LuaMember<Probe>.self, LuaDynamicMembers<Probe>.self, LuaMetrics.self,
        LuaMismatch.self, (any LuaObject).self, LuaModule.self, LuaNothing.self,
        LuaEither<Int, Int>.self, LuaOption<Probe>.self, LuaOptionList<Probe>.self,
        (any LuaOptions).self,
        LuaOperatorDeclaration.self, LuaOutputStream.self, LuaParameter.self, LuaPropertyDeclaration.self,
        (any LuaRepresentable).self,
        LuaResults.self, LuaScope.self, LuaState.self, LuaString.self, LuaTable.self, LuaTableEntry.self,
        LuaThread.self,
        LuaType.self, LuaUsage.self, LuaUserdata.self, LuaValue.self, LuaVariadic<Int>.self,
        LuaMethod<Probe>.self, LuaOperator<Probe>.self, LuaProperty<Probe>.self,
        LuaStatic<Probe>.self,
    ]

    // PredicateFormat
    static let predicateFormat: [Any.Type] = [
        FormatExpression.self, FormatPredicate.self, FormatPredicateError.self, PredicateAccessor<Int>.self,
        PredicateArithmetic.self, PredicateComparison.self, PredicateFunction.self,
        PredicateKeyPath.self, PredicateKind.self, PredicateNode.self, PredicateOperator.self, PredicateOptions.self,
        (any PredicateRecord).self, PredicateSubscript.self,
    ]

    // PropertyList
    static let propertyList: [Any.Type] = [
        BinaryPropertyListReader.self, ExactText.self, ISO8601.self,
        JSONError.self, PropertyListDate.self, PropertyListDictionary.self, PropertyListError.self,
        PropertyListFields.self,
        PropertyListFile.self,
        PropertyListFinding.self, PropertyListFormat.self, PropertyListLimits.self, (any PropertyListOutput).self,
        (any PropertyListScratch).self, PropertyListStorage.self, PropertyListValue.self,
        // Foundation's names on purpose: they are its coders' counterparts.
        PropertyList.PropertyListDecoder.self, PropertyList.PropertyListEncoder.self,
    ]

    // REPL
    static let repl: [Any.Type] = [
        HostPrompt.self
    ]

    // Scripting
    static let scripting: [Any.Type] = [
        APIReference.self, FenceReport.self,
        (any HostFrontEnd).self, KernelFence.self, PathConsent.self,
        ReferenceFormat.self, ReferencePage.self, ScriptHost.self, ScriptHostOptions.self,
    ]

    // Items, ItemArchive, ColumnEngine
    static let stores: [Any.Type] = [
        AttachmentProblem.self, ArchiveIdentity.self, ArchivePersistence.self, ArchiveSchema.self,
        (any DocumentPersistence).self, CommitDurability.self, FieldDeclaration.self, FieldDeclaration.Format.self,
        FieldDeclaration.Kind.self, FieldDeclarations.self, FieldMisfits.self, ForeignFields.self,
        HistoryLimits.self, Item.self, ItemAggregate.self, (any ItemAggregating).self, ItemAttachments.self,
        ItemChange.self,
        ItemCommit.Entry.self,
        (any ItemCommitObserver).self, ItemCursor.self, ItemField.self, ItemFieldDescription.self,
        ItemFields.self, ItemFileEncoding.self, ItemFileFormat.self, ItemFieldKind.self, ItemFileKinds.self,
        ItemFileOptions.self, ItemImportRemark.self, ItemImportReport.self, ItemGroup.self, ItemGroups.self,
        QueryKey.self, ItemLoader.self,
        ItemLoadReport.self,
        (any ItemPersistence).self, FormatPredicate.self, FormatPredicateError.self, FormatExpression.self,
        ItemQuery.self, ItemQueryPlan.self, (any ItemReplacement).self, ItemRevision.self, ItemSnapshot.self,
        ItemStore.self, ItemStoreChanges.self, ItemStoreCommit.self, ItemStoreDiff.self, (any ItemStoreObserver).self,
        ItemStoreReference.self, ItemStoreSave.self, ItemsLeftOut.self, JournalHeader.self, JournalRecord.self,
        JournalScan.self,
        MemoryPersistence.self, OriginalArchive.self, ItemSchema.self, ItemSchema.Field.self, StoreCheck.self,
        StoreError.self, SQLError.self,
        StoreFinding.self,
    ]

    // Models of the items
    struct Thing: ItemModel { var id: Int }
    static let models: [Any.Type] = [
        ItemAssignment<Int>.self, ItemAttribute<String, Int>.self, ItemCollection<Int>.self,
        ItemCollectionChanges<Int>.self, ItemCondition<Int>.self, ItemDatabase.self, ItemEntry<Int>.self,
        (any ItemIdentifier).self, (any ItemModel).self, ItemModelError.self, ItemOrdering<Int>.self,
        ItemMigrator.self, ItemRelation<Thing, Thing, Int>.self, ItemResults<Int>.self,
        (any ItemValue).self, LocalItemCollection<Int>.self, Migration.self, (any NumericItemValue).self,
        (any OrderedItemValue).self,
    ]

    // What several hosts share
    static let shared: [Any.Type] = [
        (any AttachmentPersistence).self, (any AttachmentReader).self, ItemConflict.self, ItemReads.self,
        PendingCommit.self, RemoteChange.self, RemoteCommit.self, RemoteOutcome.self,
        (any RemotePersistence).self, SharedAddress.self,
        SharedAddressError.self, SharedError.self, SharedPersistence.self, SharedSchema.self, ItemTransfer.self,
        SharedStatistics.self,
        SharedStatus.self,
    ]

    final class Probe {}

    @Test("each public type is named here")
    func complete() throws {
        let pattern = try Regex(
            #"^(@\w+ )*public (indirect |final |@frozen )*(class|struct|enum|protocol|actor|typealias) (?<name>\w+)"#)
        let own = try String(contentsOfFile: #filePath, encoding: .utf8)
        let named = Set(own.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        let umbrella = try String(contentsOfFile: "\(Project.root)/Sources/Cubby/Cubby.swift", encoding: .utf8)
        let modules = umbrella.split(separator: "\n").filter { $0.contains("public import") }.compactMap {
            $0.split(separator: " ").last
        }
        #expect(modules.count >= 8)
        var count = 0
        for module in modules {
            let folder = "\(Project.root)/Sources/\(module)"
            for file in FileManager.default.enumerator(atPath: folder)?.compactMap({ $0 as? String }) ?? []
            where file.hasSuffix(".swift") {
                for line in try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).split(separator: "\n") {
                    guard let match = try pattern.firstMatch(in: line), let name = match["name"]?.substring else {
                        continue
                    }
                    count += 1
                    #expect(named.contains(String(name)), "\(module).\(name) is not named in \(#fileID)")
                }
            }
        }
        #expect(count > 100)
    }
}
