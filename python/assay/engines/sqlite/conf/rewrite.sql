-- Every page is written anew, in the size that was set before.
vacuum
