/* What the chapter's lines of Objective-C name beside Foundation: UIKit's names, the book's classes, and the variables around a
 * line. */
#import <Foundation/Foundation.h>

/* As Apple's headers have it: a pointer of any kind. */
#undef nil
#define nil NULL

@interface UIImage : NSObject
+ (UIImage *)imageWithContentsOfFile:(NSString *)path;
@end
NSData *UIImageJPEGRepresentation(UIImage *image, double compressionQuality);

@interface UIApplication : NSObject
@end
extern NSString *const UIApplicationDidReceiveMemoryWarningNotification;

@protocol UIApplicationDelegate <NSObject>
- (BOOL)application:(UIApplication *)application didFinishLaunchingWithOptions:(NSDictionary *)options;
- (void)applicationDidBecomeActive:(UIApplication *)application;
- (void)applicationWillResignActive:(UIApplication *)application;
- (void)applicationDidEnterBackground:(UIApplication *)application;
- (void)applicationWillEnterForeground:(UIApplication *)application;
- (void)applicationWillTerminate:(UIApplication *)application;
@end

@interface BNRItem : NSObject <NSCoding>
@property(nonatomic, copy) NSString *itemName, *serialNumber, *itemKey;
@property(nonatomic, assign) int valueInDollars;
@property(nonatomic, copy) NSDate *dateCreated;
+ (instancetype)randomItem;
@end

@interface BNRItemStore : NSObject
+ (instancetype)sharedStore;
- (instancetype)initPrivate;
- (BNRItem *)createItem;
- (NSArray *)allItems;
- (BOOL)saveChanges;
@end

/* Around a line. */
@interface Context : NSObject
@property(nonatomic, copy) NSString *itemName, *name;
@property(nonatomic, assign) int valueInDollars;
@property(nonatomic, retain) NSMutableArray *privateItems, *foos;
@property(nonatomic, retain) NSMutableDictionary *dictionary;
- (NSString *)itemArchivePath;
- (void)clearCache:(NSNotification *)note;
@end

extern BNRItem *item, *foo;
extern BNRItemStore *store;
extern NSArray *items;
extern NSCoder *coder, *decoder;
extern NSKeyedArchiver *archiver;
extern NSKeyedUnarchiver *unarchiver;
extern NSNotificationCenter *center;
extern NSString *path, *key, *directory;
extern NSMutableData *data;
extern UIImage *image;
extern NSError *error;

