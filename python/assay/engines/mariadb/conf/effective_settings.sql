show global variables
