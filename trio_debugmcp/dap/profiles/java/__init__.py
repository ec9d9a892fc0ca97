"""Java, Kotlin and Scala, debugged by java-debug: classes and their sources, values, and what handles exceptions."""
