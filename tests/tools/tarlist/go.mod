module packyard.test/tools/tarlist

go 1.22
