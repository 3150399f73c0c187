// Reads keyed archives with GNUstep's unarchiver and prints the root object of each, or that it cannot be read.
// A process for each file is the caller's affair: GNUstep crashes on some.
#import <Foundation/Foundation.h>
#include <stdio.h>

static NSString *describe(id value) {
    if ([value isKindOfClass: [NSArray class]]) {
        NSMutableArray *parts = [NSMutableArray array];
        for (id element in value) [parts addObject: describe(element)];
        return [NSString stringWithFormat: @"[%@]", [parts componentsJoinedByString: @", "]];
    }
    if ([value isKindOfClass: [NSSet class]]) {
        NSMutableArray *parts = [NSMutableArray array];
        for (id element in value) [parts addObject: describe(element)];
        [parts sortUsingSelector: @selector(compare:)];
        return [NSString stringWithFormat: @"{%@}", [parts componentsJoinedByString: @", "]];
    }
    if ([value isKindOfClass: [NSDictionary class]]) {
        NSMutableArray *parts = [NSMutableArray array];
        for (id key in value) {
            id entry = [value objectForKey: key];
            [parts addObject: [NSString stringWithFormat: @"%@: %@", describe(key), describe(entry)]];
        }
        [parts sortUsingSelector: @selector(compare:)];
        return [NSString stringWithFormat: @"<%@>", [parts componentsJoinedByString: @", "]];
    }
    if ([value isKindOfClass: [NSDate class]])
        return [NSString stringWithFormat: @"%.17g", [value timeIntervalSinceReferenceDate]];
    return [NSString stringWithFormat: @"%@ %@", [value classForCoder], [value description]];
}

int main(int count, char **arguments) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    int status = 65;
    NS_DURING
        NSData *data = [NSData dataWithContentsOfFile: [NSString stringWithUTF8String: arguments[1]]];
        NSKeyedUnarchiver *unarchiver = [[NSKeyedUnarchiver alloc] initForReadingWithData: data];
        id root = [unarchiver decodeObjectForKey: @"root"];
        if (root) {
            printf("%s\n", [describe(root) UTF8String]);
            status = 0;
        }
    NS_HANDLER
        printf("%s\n", [[localException reason] UTF8String]);
    NS_ENDHANDLER
    [pool drain];
    return status;
}
