"""A class as it arrives: folders, zips, repositories, the roster, and when each hand-in was made."""
