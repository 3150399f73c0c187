// Programs that use items also need the store and its persistence file.
@_exported public import ColumnEngine
@_exported public import ItemArchive

#if !Items
#error("the product Items needs this package's trait of that name: .package(url: …, traits: [\"Items\"])")
#endif
