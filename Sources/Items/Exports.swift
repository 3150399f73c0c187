// Programs that use items also need the store and its persistence file, and the values of fields; not the encoder and the
// decoder of lists, which would stand beside Foundation's of the same names.
@_exported public import ColumnEngine
@_exported public import ItemArchive
@_exported public import struct PropertyList.ExactText
@_exported public import struct PropertyList.PropertyListDate
@_exported public import struct PropertyList.PropertyListDictionary
@_exported public import struct PropertyList.PropertyListFields
@_exported public import enum PropertyList.PropertyListValue

#if !Items
#error("the product Items needs this package's trait of that name: .package(url: …, traits: [\"Items\"])")
#endif
