// The lower bounds that shared collections are measured against: libpq by hand, blocking.
typedef struct floor_link floor_link;

// Connects and runs commands for a beginning; NULL when one fails.
floor_link *floor_connect(const char *address, const char *commands);

// Runs a command, which keeps its plan; its number is the parameter `$1`, an int4. 0 when it fails.
int floor_run(floor_link *link, const char *command, int number);

// Writes what a COPY … TO STDOUT gives to a file. The number of bytes, -1 when it fails.
long floor_copy(floor_link *link, const char *command, const char *path);

void floor_close(floor_link *link);

// Takes the notifications that are there.
void floor_drain(floor_link *link);

// Waits for a notification.
void floor_wait(floor_link *link);
