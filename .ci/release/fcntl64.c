/* C code that was compiled with a newer glibc calls fcntl by the name that it has since 2.28. On x86-64 both are the same. */
int fcntl(int file, int command, void *argument);
int fcntl64(int file, int command, void *argument) { return fcntl(file, command, argument); }
