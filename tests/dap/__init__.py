"""Is DAP spoken as the specification says, and read as real adapters write it? And do processes end?"""
