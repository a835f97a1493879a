/* A disk that lies: whoever asks for data to be written out is told at once that it was. */
int fsync(int file) { (void)file; return 0; }
int fdatasync(int file) { (void)file; return 0; }
